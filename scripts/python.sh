#!/usr/bin/env bash
# Builds the package for Python: a wheel and an sdist in dist/. Tests the wheel in a virtual environment of its
# own with the libraries that it supports, from the package index.
#
#   scripts/python.sh [build|test-built|test|test-all|free-threaded PYTHON|clean]
#
#   build      the wheel and the sdist
#   test-built the tests of `test`, with the library that `make test` has already built: no wheel, no maturin
#   test       build, and test with pyarrow, polars, pandas, DuckDB and nanoarrow
#   test-all   the same with Spark and Ray, a package that is built from the sdist, and the peers
#   free-threaded PYTHON   checks a Python without its lock: either the module refuses it, or the tests pass
#   clean      remove what was built
#
# It exits with 75 if something that it needs is missing, and says what.
. "$(dirname "$0")/common.sh"
action=${1:-build}
here=bindings/python
work=$(realpath -m "$target")/python

if [ "$action" = clean ]; then
    rm -rf "$work" dist/icecore-*.whl "dist/icecore-$version.tar.gz"
    exit
fi

python=
for candidate in python3 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || exit_skipped 'Python 3.11 or later with venv is missing: python3-venv'
need_rust

# Makes a virtual environment and installs packages in it, unless it already has the same list of packages.
make_environment() { # NAME PACKAGE…
    local folder=$work/$1
    shift
    if [ "$(cat "$folder/.has" 2>/dev/null)" != "$*" ]; then
        [ -x "$folder/bin/python" ] || "$python" -m venv "$folder"
        "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$@" || return 1
        echo "$*" >"$folder/.has"
    fi
}

mkdir -p "$work" dist

install_libraries() {
    # If a library can't be installed, the tests that need it report that they are left out.
    make_environment test 'pytest>=8' 'mypy>=1.10' || exit_skipped 'pytest could not be installed from the package index'
    libraries=('pyarrow>=17' 'polars>=1' 'pandas>=2.2' 'duckdb>=1' 'nanoarrow>=0.6')
    [ "$action" != test-all ] || libraries+=('pyspark>=3.5' 'ray[data]>=2.9' phpserialize rubymarshal storable msgspec orjson)
    pip=("$work/test/bin/python" -m pip install --quiet --disable-pip-version-check)
    for library in "${libraries[@]}"; do
        "${pip[@]}" "$library" >"$work/pip.log" 2>&1 || say "# left out: $library could not be installed: $(tail -n 1 "$work/pip.log")"
    done
}

run_tests() {
    cd "$here"
    # -rs: skipped tests are listed with their reasons.
    "$work/test/bin/python" -m pytest -q -rs -p no:cacheprovider tests
    "$work/test/bin/python" -m mypy --python-executable "$work/test/bin/python" -p icecore --cache-dir "$work/mypy"
}

if [ "$action" = test-built ]; then
    built=$target/debug/lib_icecore.so
    [ -e "$built" ] || exit_skipped "$built is missing: \`make test\` builds it"
    install_libraries
    site=$("$work/test/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    "${pip[@]}" uninstall --yes icecore >/dev/null 2>&1 || true
    rm -rf "$site/icecore"
    cp -R "$here/python/icecore" "$site/"
    cp "$built" "$site/icecore/_icecore.abi3.so"
    run_tests
    exit
fi

make_environment build 'maturin>=1.9,<2' || exit_skipped 'maturin could not be installed from the package index'

# The licences are only at the root.
cp LICENSE-MIT LICENSE-APACHE "$here/"
maturin() { # COMMAND ARGUMENT…
    "$work/build/bin/maturin" "$1" --manifest-path "$here/Cargo.toml" --out dist "${@:2}" >"$work/maturin.log" 2>&1 || {
        cat "$work/maturin.log" >&2
        fail "maturin $1 failed."
    }
}
maturin sdist
if [ "$action" = free-threaded ]; then
    free_python=${2:?which Python?}
    "$free_python" -c 'import sys; sys.exit(sys._is_gil_enabled())' 2>/dev/null || exit_skipped "$free_python is no Python without its lock"
    if ! "$work/build/bin/maturin" build --manifest-path "$here/Cargo.toml" --out "$work/free" --locked --release --interpreter "$free_python" >"$work/maturin.log" 2>&1; then
        grep -q 'does not support the free-threaded build' "$work/maturin.log" || { cat "$work/maturin.log" >&2; fail 'maturin build failed.'; }
        say "refused: $(grep -o 'PyO3 does not support.*' "$work/maturin.log" | head -n 1)"
        exit 0
    fi
    "$free_python" -m venv --clear "$work/free-test"
    "$work/free-test/bin/python" -m pip install --quiet --disable-pip-version-check 'pytest>=8' "$work"/free/icecore-"$version"-*t-*.whl
    cd "$here"
    "$work/free-test/bin/python" -m pytest -q -rs -p no:cacheprovider tests
    exit
fi
# From the checkout, so that existing build results are reused.
maturin build --locked --release --strip --interpreter "$python"
wheel=$(compgen -G "dist/icecore-$version-cp311-abi3-*.whl" | head -n 1)
[ -n "$wheel" ] || fail 'maturin left no wheel in dist/.'
say "$wheel"
say "dist/icecore-$version.tar.gz"
[ "$action" != build ] || exit 0

install_libraries
"${pip[@]}" --force-reinstall --no-deps "$wheel"
run_tests
[ "$action" = test-all ] || exit 0

"$python" -m venv --clear "$work/sdist"
"$work/sdist/bin/python" -m pip install --quiet --disable-pip-version-check "../../dist/icecore-$version.tar.gz"
"$work/sdist/bin/python" -c 'import icecore; assert icecore.loads(b"i:7;") == 7; print("1 passed; the package that was built from the sdist")'
