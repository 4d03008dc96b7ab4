#!/usr/bin/env bash
# Counts the instructions of Icecore's work under callgrind. This shows slowdowns that a clock on a shared machine
# can't show. docs/counts.md explains it.
#
#   scripts/counts.sh [check|accept|spread|page|growth] [WORD]
#
#   check    compare with benches/counts.tsv; fails if a cell takes 3 % more than there
#   accept   write benches/counts.tsv again, and show what changed
#   spread   measure everything five times, and show how far the counts are apart
#   page     write the history of benches/counts.tsv to target/counts.html
#   growth   give the command hostile inputs whose sizes double; fails if its work more than doubles
#
# With a WORD, check, spread and growth use only the cells that have it in their names.
#
# It exits with 75 if something that it needs is missing, or if the table was made with other tools; the last
# line says which.
. "$(dirname "$0")/common.sh"
action=${1:-check}
word=${2:-}
table=benches/counts.tsv
built=$(realpath -m "$target")/counts
stage=$built/stage

case $action in
check | accept | spread | page | growth) ;;
*) fail "usage: scripts/counts.sh [check|accept|spread|page|growth] [WORD]" ;;
esac
need_rust
# Flags of the caller would change the code that is counted.
unset RUSTC_WORKSPACE_WRAPPER RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_RUSTFLAGS CARGO_BUILD_TARGET CFLAGS CXXFLAGS CPPFLAGS LDFLAGS ICECORE_OPTIMIZE
while IFS= read -r name; do
    unset "$name"
done < <(compgen -e | grep '^CARGO_PROFILE_' || true)

build() { # PACKAGE…
    local package packages=()
    for package in "$@"; do
        packages+=(-p "$package")
    done
    cargo build --quiet --locked --profile counts --no-default-features "${packages[@]}"
}

if [ "$action" = page ]; then
    build icecore-counts
    "$built/icecore-counts" page "$table" "$(realpath -m "$target")/counts.html"
    exit
fi

have valgrind || exit_skipped 'valgrind is missing: valgrind'
if [ "$action" = growth ]; then
    build icecore-counts
    scripts/build.sh
    "$built/icecore-counts" growth --only "$word" "$target/release/icecore" "$built/growth"
    exit
fi
if [ "$action" = check ]; then
    # The version of rustc is checked before the build, which takes minutes. The program compares the other tools.
    made_with=$(sed -n 's/^# tool rustc: //p' "$table")
    [ "$made_with" = "$(rustc -V)" ] || exit_skipped "the table is for $made_with, here is $(rustc -V)"
fi

# Copies the sources of the modules to a folder of their own, so that the build of a developer in
# bindings/ stays as it is.
stage_modules() {
    local files file
    files=$(git ls-files --cached --others --exclude-standard -- Cargo.toml scripts bindings crates/icecore-capi/include)
    if [ "$(cat "$stage/.files" 2>/dev/null)" != "$files" ]; then
        rm -rf "$stage"
        mkdir -p "$stage"
        printf '%s\n' "$files" >"$stage/.files"
    fi
    while IFS= read -r file; do
        [ ! -e "$file" ] || printf '%s\0' "$file"
    done <<<"$files" | xargs -0 cp -p -u --parents -t "$stage"
}

# Makes the package for Python without maturin: its Python files, and the library next to them.
stage_python() {
    rm -rf "$stage/python"
    mkdir -p "$stage/python"
    cp -rp bindings/python/python/icecore "$stage/python/"
    cp -p "$built/lib_icecore.so" "$stage/python/icecore/_icecore.abi3.so"
    python3 -m compileall -q "$stage/python"
}

packages=(icecore-counts icecore-capi icecore-cli)
if python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    packages+=(icecore-python)
fi
build "${packages[@]}"
stage_modules
for language in perl php ruby; do
    if "has_${language}_headers"; then
        ICECORE_LIB=$built/libicecore_capi.a "$stage/scripts/modules.sh" build "$language"
    fi
done
if [ "${#packages[@]}" -eq 4 ]; then
    stage_python
fi
"$built/icecore-counts" "$action" --only "$word" "$table" "$stage" "$built/icecore" "$built/work"
