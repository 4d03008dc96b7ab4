#!/usr/bin/env bash
# cargo calls this script instead of rustc for each of our crates, if RUSTC_WORKSPACE_WRAPPER names it. The crate is
# compiled with clippy. Then rustdoc checks it, if it is a library or a program. Cargo keeps the warnings and repeats
# them in each build. `cargo clippy` and `cargo doc` give the same warnings, but check all dependencies again.
#
#   CHECKERS=FOLDER scripts/check-crate.sh RUSTC ARGUMENT…
#
# FOLDER contains clippy-driver and rustdoc; a missing one is not run.
set -euo pipefail
compiler=("$1")
shift
[ ! -x "$CHECKERS/clippy-driver" ] || compiler=("$CHECKERS/clippy-driver" "${compiler[@]}")
"${compiler[@]}" "$@"

# rustdoc gets the arguments of rustc, except those that control the output.
arguments=()
is_documented=
while [ $# -gt 0 ]; do
    case $1 in
    --test | */examples/* | */benches/* | */build.rs) exit ;;
    --emit=*link*) is_documented=1 ;;
    --emit=* | --json=*) ;;
    --out-dir) folder=$2 && shift ;;
    *) arguments+=("$1") ;;
    esac
    shift
done
[ -n "$is_documented" ] && [ -x "$CHECKERS/rustdoc" ] || exit 0
[[ " ${arguments[*]} " != *' --crate-type bin '* ]] || arguments+=(--document-private-items)
"$CHECKERS/rustdoc" "${arguments[@]}" --json=diagnostic-rendered-ansi --out-dir "$folder/../rustdoc"
