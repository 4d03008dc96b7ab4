#!/usr/bin/env bash
# Runs all tests of the PHP module with a built extension.
#
#   bindings/php/tests/run.sh modules/icecore.so [PHP]
#
# CHANCE is the number of random values (600); SEED is their seed (1).
set -u
extension=$(realpath "${1:?the extension, icecore.so}")
php=${2:-php}
cd "$(dirname "$0")" || exit 1
# A hook must be able to print a value: the ini settings of the machine must not change the output.
settings=(-d "extension=$extension" -d zend.assertions=1 -d display_errors=stderr -d log_errors=0 -d serialize_precision=-1 -d precision=14)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0

# Adds the counts of a file's last line; a crashed process is one more failure.
run() { # NAME ARGUMENTS…
    local name=$1
    shift
    take "$name" "$php" "${settings[@]}" "$@"
}

take() { # NAME COMMAND…
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
        [ ! -s "$folder/trace" ] || { echo '    the last text:'; head -c 2000 "$folder/trace" | cat -v; echo; }
    fi
    grep -aE '^left out|^# .*: (skipped|open) ' "$folder/out"
    echo "# $name: ${counts:-died, exit code $code}"
}

run behaviour behaviour.php
run cases cases.php
run replace replace.php
run 'replace by chance' replace-chance.php --seed "${SEED:-1}" --count "${CHANCE:-600}"
run 'what classes froze themselves' payloads.php --seed "${SEED:-1}" --count "$((${CHANCE:-600} / 3))"
run 'hooks by chance' hooks.php --seed "${SEED:-1}" --count "$((${CHANCE:-600} / 6))" --more "$extension"
run 'memory near the limit' memory.php --extension "$extension" --seed "${SEED:-1}" --count "$((${CHANCE:-600} / 15))"
run client client.php
run large large.php --seed "${SEED:-1}" --count "$((${CHANCE:-600} / 2))"
take phpt ./phpt.sh "$extension" "$php"
run chance chance.php --seed "${SEED:-1}" --count "${CHANCE:-600}" --no igbinary --trace "$folder/trace"
# igbinary behaves differently for names that __sleep invents and for properties without a value, which is not
# imitated (README.md): the number of differences is printed, but not counted.
"$php" "${settings[@]}" chance.php --seed "${SEED:-1}" --count 200 --show 0 >"$folder/out" 2>/dev/null
echo "# igbinary by chance, with all that is above: $(grep -aoE '[0-9]+ passed, [0-9]+ failed' "$folder/out" | tail -n 1 | sed 's/passed/the same/; s/failed/not/')"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
