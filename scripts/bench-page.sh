#!/usr/bin/env bash
# Checks a report of `icecore bench --html` in a browser, light and dark, wide and narrow: nothing overflows, no
# labels overlap, everything is readable.
#
#     scripts/bench-page.sh                  the report of the tests
#     scripts/bench-page.sh REPORT [FOLDER]  another one, as a page or as JSON; screenshots go to the folder
page=${1:+$(realpath "$1")}
shots=${2:+$(realpath "$2")}
. "$(dirname "$0")/common.sh"
new_folder
passed=0
failed=0

browser=
for name in chromium chromium-browser google-chrome; do
    have "$name" && browser=$name && break
done
if [ -z "$browser" ]; then
    say 'chromium is missing: apt-get install chromium'
    exit 75
fi

case $page in
*.json)
    # The command draws it.
    [ -x "$test_command" ] || cargo build --quiet --locked "${all_features[@]}" --bin icecore
    "$test_command" bench --show "$page" --html "$folder/report.html" >/dev/null
    page=$folder/report.html
    ;;
'')
    # A test draws it.
    cargo test --quiet --locked "${all_features[@]}" --test lab -- the_html_page_is_well_formed_and_safe >/dev/null
    page=$(realpath "$target/tmp/report.html")
    ;;
esac

# 0 is dark for Chromium.
browse() { # SCHEME WIDTH HEIGHT OPTION… FILE
    local scheme=$1 width=$2 height=$3
    shift 3
    # It warns about missing services of a desktop. The timeout only stops runs that would never end.
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

# No window can be narrower than 500 pixels, but a frame in it can.
frame() { # WIDTH
    cat <<HTML
<!DOCTYPE html>
<meta charset="utf-8"><meta name="color-scheme" content="light dark">
<pre></pre>
<script>addEventListener('message', (event) => (document.querySelector('pre').textContent = event.data));</script>
<iframe src="checked.html" style="border:0;width:$1px;height:1400px"></iframe>
HTML
}

look() { # NAME SCHEME WIDTH
    local name=$1 scheme=$2 width=$3 found word='light'
    [ "$scheme" -eq 1 ] || word='dark'
    frame "$width" >"$folder/frame.html"
    browse "$scheme" 2000 1500 --virtual-time-budget=5000 --dump-dom "file://$folder/frame.html" >"$folder/dom" || true
    found=$(sed -n 's/^@@ //p' "$folder/dom")
    if ! grep -qx "seen $word $width" <<<"$found"; then
        say "not ok $name: the browser did not show it like that: ${found##*$'\n'}"
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
    done <<<"$found"
    if [ -n "$shots" ]; then
        mkdir -p "$shots"
        browse "$scheme" "$width" 6000 --screenshot="$shots/$name.png" "file://$page" || true
    fi
}

look light 1 1000
look dark 0 1000
look narrow 1 400
look narrow-dark 0 400
look wide 1 1800
say "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
