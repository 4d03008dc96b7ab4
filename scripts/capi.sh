#!/usr/bin/env bash
# Builds the examples of the C interface, runs them, and compares their output.
. "$(dirname "$0")/common.sh"
new_folder
# ICECORE_LIB and ICECORE_COMMAND name a library and a command that are already built.
library=${ICECORE_LIB:-}
if [ -z "$library" ]; then
    cargo build --quiet --locked --release -p icecore-capi
    library=$target/release/libicecore_capi.a
fi
command=(cargo run --quiet --locked -p icecore-cli --)
[ -z "${ICECORE_COMMAND:-}" ] || command=("$ICECORE_COMMAND")
here=crates/icecore-capi
passed=0

# Counts a passed test, or fails if the two texts differ.
expect_equal() { # WHAT ACTUAL EXPECTED
    [ "$2" = "$3" ] || fail "$1: got
$2
expected
$3"
    passed=$((passed + 1))
}

for example in convert replace tape; do
    cc -std=c99 -Wall -Wextra -Wpedantic -Werror -O1 -I "$here/include" "$here/examples/$example.c" \
        "$library" -lpthread -ldl -lm -o "$folder/$example"
done
# The header is valid C++ too.
if have c++; then
    printf '#include <icecore.h>\nint main() { return icecore_version() ? 0 : 1; }\n' >"$folder/header.cc"
    c++ -Wall -Wextra -Werror -I "$here/include" "$folder/header.cc" "$library" -lpthread -ldl -lm -o "$folder/header"
    "$folder/header"
    passed=$((passed + 1))
fi

expected=$(
    cat <<'TAPE'
0: kind 33
1: kind 2, key id, 1001
2: kind 9, key name, "Alice"
kind 1 at 5, path $[2]: the input ends too early (json) at offset 5 at $[2]: expected `,` or `]`, found the end of the input
TAPE
)
expect_equal 'the tape' "$("$folder/tape")" "$expected"

sample=docs/cookbook/samples/session.storable
expected=$("${command[@]}" convert -q "$sample")
expect_equal 'convert.c' "$("$folder/convert" '' json <"$sample")" "$expected"
status=0
output=$("$folder/convert" storable json <README.md 2>&1) || status=$?
expect_equal 'the exit code of an error' "$status" 4
case $output in
*'(storable) at offset 0'*) passed=$((passed + 1)) ;;
*) fail "the message of an error: $output" ;;
esac

lines='a:1:{i:0;s:7:"old ink";}
{"a":"[\"old\"]","old":1.50}
plain and old'
replaced='a:1:{i:0;s:13:"brand new pen";}
{"a":"[\"brand new\"]","old":1.50}
plain and brand new
4 replaced'
expect_equal 'replace.c' "$("$folder/replace" old 'brand new' ink pen <<<"$lines" 2>&1)" "$replaced"
status=0
output=$("$folder/replace" '' x </dev/null 2>&1) || status=$?
expect_equal 'the exit code of wrong pairs' "$status" 2
expect_equal 'the message' "$output" 'wrong option: an empty OLD is found everywhere: give a text'
if have python3; then
    expect_equal 'convert.py' "$(python3 "$here/examples/convert.py" "${library%.a}.so" storable json <"$sample")" "$expected"
else
    say 'python3 is missing: its example is left out'
fi
if have valgrind; then
    valgrind --quiet --error-exitcode=9 --leak-check=full "$folder/convert" '' json <"$sample" >/dev/null
    valgrind --quiet --error-exitcode=9 --leak-check=full "$folder/tape" >/dev/null
    valgrind --quiet --error-exitcode=9 --leak-check=full "$folder/replace" old 'brand new' <<<"$lines" >/dev/null 2>"$folder/output" || {
        cat "$folder/output" >&2
        fail 'replace.c under valgrind'
    }
    passed=$((passed + 3))
fi
say "$passed passed, 0 failed"
