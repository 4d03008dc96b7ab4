#!/usr/bin/env bash
# Writes the tables of docs/tests.md from the steps of the test scripts.
#
#   scripts/tests-page.sh           writes them, with the seconds of the last runs on this machine, if there were any
#   scripts/tests-page.sh --check   fails if a step is missing there, or is described differently
. "$(dirname "$0")/common.sh"
page=docs/tests.md

# Prints a row for each step of a script: its name, what it shows, its seconds.
list_rows() { # SCRIPT
    local name what seconds
    LIST_STEPS=1 "scripts/$1.sh" | while IFS=$'\t' read -r name what; do
        seconds=$(awk -F '\t' -v name="$name" '$4 == name { print $1 }' "$target/steps/$1.tsv" 2>/dev/null || true)
        # If the step did not run here, the page keeps its figure.
        [ -n "$seconds" ] || seconds=$(awk -F ' *[|] *' -v name="$name" '$2 == name { print $4; exit }' "$page")
        printf '| %s | %s | %s |\n' "$name" "$what" "${seconds:-–}"
    done
}

# Prints the page, with a table after each `<!-- steps: SCRIPT -->`.
write_page() {
    local line skipping='' script
    while IFS= read -r line; do
        case $line in
        '<!-- steps: '*)
            script=${line#<!-- steps: }
            script=${script% -->}
            printf '%s\n\n| step | what it shows | seconds |\n|---|---|--:|\n' "$line"
            list_rows "$script"
            printf '\n'
            skipping=1
            ;;
        '<!-- end -->') skipping='' && printf '%s\n' "$line" ;;
        *) [ -n "$skipping" ] || printf '%s\n' "$line" ;;
        esac
    done <"$page"
}

new_folder
write_page >"$folder/page"
if [ "${1:-}" = --check ]; then
    without_seconds='s/[|][^|]*[|]$/|/'
    diff <(sed "$without_seconds" "$page") <(sed "$without_seconds" "$folder/page") ||
        fail "$page is not what the steps say: run scripts/tests-page.sh"
    say "$page lists all steps"
else
    cp "$folder/page" "$page"
fi
