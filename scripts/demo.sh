#!/usr/bin/env bash
# Builds the command and demonstrates it. Needs only Rust.
. "$(dirname "$0")/common.sh"
need_rust
# Everything except the check of payloads by a schema, which takes long to build.
cargo build --profile demo --locked -p icecore-cli --bin icecore --no-default-features --features serve
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

# Prints a command as it is typed, and runs it.
show() { # COMMAND
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
say 'Kept in a database, and found again:'
show 'icecore store put session.storable --key session'
show 'icecore store each'
show 'icecore store get session -t php; echo'

say
say 'A job, and the command that does it:'
show "echo '{\"mail\": 7}' | icecore queue push --queue mail"
show 'icecore work --queue mail --exec "tr -d {}" --until-empty'
show 'icecore queue list mail'

say
say 'A million records:'
"$bin/examples/employees" 1000000 storable million.storable
show 'icecore detect million.storable'
show 'time icecore convert million.storable -o million.json'
show 'ls -l million.storable million.json'
show 'head -c 120 million.json; echo'
