#!/usr/bin/env bash
# Checks a report of `icecore bench --html` in a browser, light and dark, wide and narrow: nothing overflows, no
# labels overlap, everything is readable.
#
#     scripts/bench-page.sh                  the report of the tests
#     scripts/bench-page.sh REPORT [FOLDER]  another one, as a page or as JSON; screenscreenshots go to the folder
page=${1:+$(realpath "$1")}
screenshots=${2:+$(realpath "$2")}
. "$(dirname "$0")/common.sh"
new_folder
passed=0
failed=0

browser=
for name in chromium chromium-browser google-chrome; do
    have "$name" && browser=$name && break
done
if [ -z "$browser" ]; then
    exit_skipped 'chromium is missing: apt-get install chromium'
fi

case $page in
*.json)
    # The command makes the page of a report.
    [ -x "$test_command" ] || cargo build --quiet --locked "${all_features[@]}" --bin icecore
    "$test_command" bench --show "$page" --html "$folder/report.html" >/dev/null
    page=$folder/report.html
    ;;
'')
    # A test makes the page.
    cargo test --quiet --locked "${all_features[@]}" --test lab -- the_html_page_is_well_formed_and_safe >/dev/null
    page=$(realpath "$target/tmp/report.html")
    ;;
esac

# Opens a page in the browser. SCHEME is 0 for dark and 1 for light, as in Chromium's settings.
browse() { # SCHEME WIDTH HEIGHT OPTION… FILE
    local scheme=$1 width=$2 height=$3
    shift 3
    # Chromium warns about missing services of a desktop. The timeout only stops runs that would never end.
    timeout 900 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync --hide-scrollbars \
        --user-data-dir="$folder/$RANDOM" --window-size="$width,$height" \
        --blink-settings=preferredColorScheme="$scheme" "$@" 2>"$folder/log"
}

{
    sed '/<\/body>/,$d' "$page"
    printf '<script>\n'
    cat scripts/bench-page.js
    printf '</script>\n</body>\n</html>\n'
} >"$folder/checked.html"

# Prints a page with the report in a frame of this width. A frame can be narrower than 500 pixels, a window can't.
print_frame() { # WIDTH
    cat <<HTML
<!DOCTYPE html>
<meta charset="utf-8"><meta name="color-scheme" content="light dark">
<pre></pre>
<script>addEventListener('message', (event) => (document.querySelector('pre').textContent = event.data));</script>
<iframe src="checked.html" style="border:0;width:$1px;height:1400px"></iframe>
HTML
}

# Checks the page in one colour scheme and width, and counts the results.
check_page() { # NAME SCHEME WIDTH
    local name=$1 scheme=$2 width=$3 results word='light'
    [ "$scheme" -eq 1 ] || word='dark'
    print_frame "$width" >"$folder/frame.html"
    browse "$scheme" 2000 1500 --virtual-time-budget=5000 --dump-dom "file://$folder/frame.html" >"$folder/dom" || true
    results=$(sed -n 's/^@@ //p' "$folder/dom")
    if ! grep -qx "seen $word $width" <<<"$results"; then
        say "not ok $name: the browser did not show it like that: ${results##*$'\n'}"
        tail -n 3 "$folder/log"
        failed=$((failed + 1))
        return
    fi
    while read -r line; do
        case $line in
        'ok '*) passed=$((passed + 1)) ;;
        'not ok '*)
            say "not ok $name, ${line#not ok }"
            failed=$((failed + 1))
            ;;
        esac
    done <<<"$results"
    if [ -n "$screenshots" ]; then
        mkdir -p "$screenshots"
        browse "$scheme" "$width" 6000 --screenshot="$screenshots/$name.png" "file://$page" || true
    fi
}

check_page light 1 1000
check_page dark 0 1000
check_page narrow 1 400
check_page narrow-dark 0 400
check_page wide 1 1800
say "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
