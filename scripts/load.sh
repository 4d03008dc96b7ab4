#!/usr/bin/env bash
# Measures the store next to other programs that do the same work, and writes docs/bench/store.json and the
# tables in docs/bench/store.md.
#
#   scripts/load.sh                in full: half an hour or more on a quiet machine, plus the builds
#   scripts/load.sh --only grow    only how it grows, 20 minutes; the other figures in docs stay as they are
#   scripts/load.sh --small        checks that everything works, in a few minutes, and writes nothing to docs
#
# More arguments go to the program, such as --rounds 15; `--help` lists them. Missing programs are installed
# where that is allowed, or reported: without the servers the rest runs on SQLite, without Go River is left out.
. "$(dirname "$0")/common.sh"
need_rust

small='' only=''
for argument in "$@"; do
    case $argument in
    --small) small=1 ;;
    --only | --only=*) only=1 ;;
    esac
    if [ "$argument" = --help ]; then
        cargo run --release --locked --quiet -p icecore-load -- store --help
        exit
    fi
done

missing=$(perl benches/store/ask.pl 2>/dev/null || echo perl)
if [ -n "$missing" ]; then
    install_packages libdbi-perl libdbd-sqlite3-perl libdbd-pg-perl libev-perl libjson-xs-perl ||
        fail "Not installed: ${missing//$'\n'/, }; scripts/prepare.sh installs what the Perl programs need."
fi

scripts/build.sh
cargo build --release --locked -p icecore-load
cargo build --release --locked -p icecore-store --features postgres,mysql --example queue
new_folder
arguments=(--icecore "$target/release/icecore" --library "$target/release/examples/queue")
if [ -n "$only" ]; then
    : # River is not part of this measurement.
elif ! have go; then
    say 'River is left out: go is missing, of https://go.dev/dl or golang-go'
elif ! (cd benches/store/river && go build -o "$folder/river" .); then
    say 'River is left out: it could not be built'
else
    arguments+=(--river "$folder/river")
fi
if [ -z "$small" ]; then
    mkdir -p docs/bench
    arguments+=(--json docs/bench/store.json --page docs/bench/store.md)
fi

load=("$target/release/icecore-load" store "${arguments[@]}" "$@")
status=0
scripts/servers.sh run "${load[@]}" || status=$?
if [ "$status" -eq 75 ]; then
    say 'What is over PostgreSQL and MariaDB is left out: they are missing'
    status=0
    "${load[@]}" || status=$?
fi
exit "$status"
