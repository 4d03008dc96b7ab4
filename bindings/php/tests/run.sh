#!/usr/bin/env bash
# Runs all tests of the PHP module with a built extension.
#
#   bindings/php/tests/run.sh modules/icecore.so [PHP]
#
# CHANCE is the number of random values (default: 600), SEED their seed (default: 1).
set -u
extension=$(realpath "${1:?the extension, icecore.so}")
php=${2:-php}
cd "$(dirname "$0")" || exit 1
# Fixed ini settings, because those of the machine would change the output.
settings=(-d "extension=$extension" -d zend.assertions=1 -d display_errors=stderr -d log_errors=0 -d serialize_precision=-1 -d precision=14)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0

# Runs a program of PHP, and adds the counts of its last line.
run() { # NAME ARGUMENTS…
    local name=$1
    shift
    run_command "$name" "$php" "${settings[@]}" "$@"
}

# Runs a command, and adds the counts of its last line. A crash counts as a failure.
run_command() { # NAME COMMAND…
    local name=$1 code counts
    shift
    "$@" >"$folder/out" 2>"$folder/err"
    code=$?
    counts=$(grep -aoE '[0-9]+ passed, [0-9]+ failed' "$folder/out" | tail -n 1)
    # shellcheck disable=SC2086
    set -- ${counts:-0 passed, 0 failed}
    passed=$((passed + $1))
    failed=$((failed + $3))
    if [ "$3" -ne 0 ] || [ "$code" -ne 0 ]; then
        grep -a -A 40 '^not ok' "$folder/out" | head -n 200
        head -n 60 "$folder/err"
    fi
    if [ -z "$counts" ] || { [ "$code" -ne 0 ] && [ "$3" -eq 0 ]; }; then
        failed=$((failed + 1))
        echo "not ok - $name: exit code $code"
        [ ! -s "$folder/trace" ] || { echo '    the last text that was read:'; head -c 2000 "$folder/trace" | cat -v; echo; }
    fi
    grep -aE '^left out|^# .*: (skipped|open) ' "$folder/out"
    echo "# $name: ${counts:-no result, exit code $code}"
}

run behaviour behaviour.php
run cases cases.php
run replace replace.php
run 'replace, random values' replace-chance.php --seed "${SEED:-1}" --count "${CHANCE:-600}"
run payloads payloads.php --seed "${SEED:-1}" --count "$((${CHANCE:-600} / 3))"
run 'custom, random data' custom-chance.php --extension "$extension" --seed "${SEED:-1}" --count "$((${CHANCE:-600} * 2))"
run 'hooks, random data' hooks.php --seed "${SEED:-1}" --count "$((${CHANCE:-600} / 6))" --more "$extension"
run 'memory near the limit' memory.php --extension "$extension" --seed "${SEED:-1}" --count "$((${CHANCE:-600} / 15))"
run client client.php
run igbinary igbinary.php --seed "${SEED:-1}" --count "$((${CHANCE:-600} * 2))"
run large large.php --seed "${SEED:-1}" --count "$((${CHANCE:-600} / 2))"
run_command phpt ./phpt.sh "$extension" "$php"
run 'random values' chance.php --seed "${SEED:-1}" --count "${CHANCE:-600}" --trace "$folder/trace"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
