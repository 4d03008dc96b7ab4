#!/usr/bin/env bash
# Runs phpt/ twice with PHP's own test runner: with PHP alone, and with the extension, whose functions replace
# PHP's. The expectations are the same for both.
#
#   bindings/php/tests/phpt.sh modules/icecore.so [PHP] [FILE OR FOLDER OF phpt/…]
#
# JOBS is the number of concurrent tests (default: 2). PHPT_SIDES=icecore skips the run with PHP alone.
set -u
extension=$(realpath "${1:?the extension, icecore.so}")
php=$(command -v "${2:-php}")
shift $(($# > 1 ? 2 : 1))
cd "$(dirname "$0")" || exit 1
config="php-config$("$php" -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')"
command -v "$config" >/dev/null || config='php-config'
runner=$("$config" --prefix 2>/dev/null)/lib/php/$("$config" --phpapi 2>/dev/null)/build/run-tests.php
[ -e "$runner" ] || runner=$("$config" --extension-dir 2>/dev/null)/build/run-tests.php
[ -e "$runner" ] || runner=$("$config" --prefix 2>/dev/null)/lib/php/build/run-tests.php
if [ ! -e "$runner" ]; then
    echo 'left out: run-tests.php of PHP is missing (php-dev)'
    echo '0 passed, 0 failed'
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The runner leaves files next to failed tests.
cp -r phpt "$folder/phpt"
[ $# -gt 0 ] || set -- .
passed=0
failed=0

# Runs all tests with these options, and adds the counts.
run_tests() { # NAME OPTION…
    local name=$1 passed_here failed_here
    shift
    rm -f "$folder/results"
    (
        cd "$folder/phpt" && TEST_PHP_EXECUTABLE=$php SKIP_ONLINE_TESTS=1 NO_INTERACTION=1 \
            "$php" "$runner" -q -p "$php" --no-color --no-progress --offline -j"${JOBS:-2}" -W "$folder/results" "$@"
    ) >"$folder/log" 2>&1 </dev/null
    passed_here=$(grep -c '^PASSED' "$folder/results" 2>/dev/null)
    failed_here=$(grep -cvE '^(PASSED|SKIPPED|XFAILED)' "$folder/results" 2>/dev/null)
    if [ ! -s "$folder/results" ]; then
        failed_here=1
        tail -n 20 "$folder/log"
    fi
    sed -nE "s,^SKIPPED.*/phpt/,# $name: skipped ,p" "$folder/results" 2>/dev/null
    sed -nE "s,^XFAILED.*/phpt/,# $name: open ,p" "$folder/results" 2>/dev/null
    grep -vE '^(PASSED|SKIPPED|XFAILED)' "$folder/results" 2>/dev/null | sed 's,.*/phpt/,,' | while IFS= read -r file; do
        echo "not ok - $name: $file"
        if [ -e "$folder/phpt/${file%.phpt}.diff" ]; then
            sed 's/^/    /' "$folder/phpt/${file%.phpt}.diff" | head -n 60
            echo
        else
            echo '    it passes now: remove the xfail from its SKIPIF'
        fi
    done
    echo "# phpt, $name: $passed_here passed, $failed_here failed"
    passed=$((passed + passed_here))
    failed=$((failed + failed_here))
}

# The second run has a meaning only if the functions are replaced.
with=(-d "extension=$extension" -d icecore.replace=1)
# shellcheck disable=SC2016
"$php" "${with[@]}" -r 'exit((int) !ini_get("icecore.replace"));' || { echo 'not ok - icecore.replace=1 has no effect'; failed=1; }
[ "${PHPT_SIDES:-}" = icecore ] || run_tests 'PHP alone' "$@"
run_tests 'icecore.replace=1' "${with[@]}" "$@"
# The session handler uses the text of PHP's handler `php`.
[ "$*" != . ] || run_tests 'session.serialize_handler=icecore' "${with[@]}" -d session.serialize_handler=icecore sessions
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
