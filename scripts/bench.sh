#!/usr/bin/env bash
# Runs every experiment in full and publishes what it found: docs/bench, docs/performance.md, the tables of the README.
#
#   scripts/bench.sh             everything, about half an hour; the machine should do nothing else
#   scripts/bench.sh SCENARIO…   these anew, the others stay as they are
#   scripts/bench.sh --draw      only the pages, from docs/bench/report.json
. "$(dirname "$0")/common.sh"

have cargo || fail 'Rust is missing: make test installs it.'
scripts/build.sh
scripts/modules.sh
icecore=$target/release/icecore
report=docs/bench/report.json

if [ "${1:-}" != --draw ]; then
    new_folder
    reports=("$folder/new.json")
    "$icecore" bench --budget 150 "$@" --json "${reports[0]}" >"$folder/text"
    # Scenarios that were not measured anew are taken from the last report.
    [ $# -eq 0 ] || [ ! -e "$report" ] || reports=("$report" "${reports[@]}")
    "$icecore" bench "${reports[@]/#/--report=}" --json "$folder/report.json" >/dev/null
    mkdir -p docs/bench
    mv "$folder/report.json" "$report"
fi
make --no-print-directory pages
say "docs/bench is written: docs/bench/report.html shows it"
