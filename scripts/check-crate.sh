#!/usr/bin/env bash
# cargo calls it in place of rustc for each of our crates, if RUSTC_WORKSPACE_WRAPPER names it. The crate is compiled
# under clippy; then rustdoc reads it, if it is a library or a program. Cargo keeps their warnings and repeats them in each
# build. `cargo clippy` and `cargo doc` give the same warnings, but read all dependencies once more.
#
#   CHECKERS=FOLDER scripts/check-crate.sh RUSTC ARGUMENT…
#
# FOLDER has clippy-driver and rustdoc; one that is missing is not asked.
set -euo pipefail
compiler=("$1")
shift
[ ! -x "$CHECKERS/clippy-driver" ] || compiler=("$CHECKERS/clippy-driver" "${compiler[@]}")
"${compiler[@]}" "$@"

# The arguments for rustdoc are those of rustc, but for those that say what to write.
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
