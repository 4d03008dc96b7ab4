#!/usr/bin/env bash
# Runs every experiment in full and publishes the results: docs/bench, docs/performance.md, the tables of the
# README.
#
#   scripts/bench.sh             everything: about three quarters of an hour, plus as long again for pending-store;
#                                the machine should be idle otherwise
#   scripts/bench.sh SCENARIO…   only these scenarios; the results of the others stay as they are
#   scripts/bench.sh --columns   only work with columns in Python, to docs/bench/columns.json; about ten minutes, after
#                                scripts/python.sh test-all, whose packages are measured too
#   scripts/bench.sh --draw      only the pages, from the results in docs/bench
#
# ICECORE_BUDGET: approximate time limit of a scenario in seconds; default 150.
. "$(dirname "$0")/common.sh"

have cargo || fail 'Rust is missing: make test installs it.'
scripts/build.sh
[ "${1:-}" = --columns ] || scripts/modules.sh
icecore=$target/release/icecore
report=docs/bench/report.json

bench=("$icecore" bench --budget "${ICECORE_BUDGET:-150}")

# Runs a command with a PostgreSQL, a MariaDB and a server that speaks the protocol of MongoDB, or without them if they
# can't be installed.
with_servers() { # COMMAND…
    local status=0
    scripts/servers.sh run "$@" || status=$?
    if [ "$status" -eq 75 ]; then
        "$@"
        return
    fi
    return "$status"
}

if [ "${1:-}" = --columns ]; then
    python=$(realpath -m "$target")/python/test/bin/python
    [ -x "$python" ] || fail "scripts/python.sh test-all installs what takes part."
    new_folder
    mapfile -t chosen < <(grep -l '^report = "columns"$' crates/icecore-lab/scenarios/*.toml | xargs -n 1 basename -s .toml)
    "${bench[@]}" "${chosen[@]}" --python "$python" --json "$folder/columns.json" >"$folder/text"
    mv "$folder/columns.json" docs/bench/columns.json
elif [ "${1:-}" != --draw ]; then
    new_folder
    reports=()
    # Scenarios that are not measured again are taken from the last report.
    [ $# -eq 0 ] || [ ! -e "$report" ] || reports+=("$report")
    if [ $# -eq 0 ]; then
        # Scenarios that have a report of their own are left out.
        mapfile -t all < <(grep -L '^report = ' crates/icecore-{lab,load}/scenarios/*.toml | xargs -n 1 basename -s .toml)
        set -- "${all[@]}"
    fi
    # Servers run only while the scenarios that need them are measured.
    others=() with_web='' with_store=''
    for scenario in "$@"; do
        case $scenario in
        pending-store) with_store=1 ;;
        php-web) with_web=1 ;;
        *) others+=("$scenario") ;;
        esac
    done
    if [ ${#others[@]} -gt 0 ]; then
        "${bench[@]}" "${others[@]}" --json "$folder/others.json" >"$folder/text"
        reports+=("$folder/others.json")
    fi
    if [ -n "$with_web" ]; then
        cargo build --release --locked -p icecore-load
        "$target/release/icecore-load" web --budget "${ICECORE_BUDGET:-150}" --json "$folder/web.json" >"$folder/text"
        reports+=("$folder/web.json")
    fi
    if [ -n "$with_store" ]; then
        with_servers "${bench[@]}" pending-store --json "$folder/store.json" >"$folder/text"
        reports+=("$folder/store.json")
    fi
    "$icecore" bench "${reports[@]/#/--show=}" --json "$folder/report.json" >/dev/null
    mkdir -p docs/bench
    mv "$folder/report.json" "$report"
fi
make --no-print-directory pages
say "docs/bench is written; to look at it: icecore bench --show $report --html report.html"
