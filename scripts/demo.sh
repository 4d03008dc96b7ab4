#!/usr/bin/env bash
# Builds the command and shows what it does. Needs Rust, nothing else.
. "$(dirname "$0")/common.sh"
need_rust
cargo build --profile demo --locked -p icecore-cli --bin icecore
cargo build --profile demo --locked --quiet -p icecore --example employees
bin=$(cd "$target/demo" && pwd)
PATH=$bin:$PATH
new_folder
cp docs/cookbook/samples/session.storable "$folder"
cd "$folder"

if [ -t 1 ]; then
    bold=$(printf '\033[1m') plain=$(printf '\033[0m')
else
    bold='' plain=''
fi

show() { # COMMAND, as it is typed
    printf '\n%s$ %s%s\n' "$bold" "$1" "$plain"
    bash -c "$1"
}

say
say 'A small file that Perl wrote with Storable:'
show 'icecore detect session.storable'
show 'icecore inspect session.storable'
show 'icecore classes session.storable'
show 'icecore convert -t json:indent=2 session.storable'

say
say 'A million records:'
"$bin/examples/employees" 1000000 storable million.storable
show 'icecore detect million.storable'
show 'time icecore convert million.storable -o million.json'
show 'ls -l million.storable million.json'
show 'head -c 120 million.json; echo'
