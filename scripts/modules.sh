#!/usr/bin/env bash
# Builds the modules of the languages: now Perl's. The pieces in C that they share are
# tested without one.
#
#   scripts/modules.sh            build: then `perl -Mblib=bindings/perl` uses it
#   scripts/modules.sh test       build and test
#   scripts/modules.sh install    build and install
. "$(dirname "$0")/common.sh"
what=${1:-build}

have cargo || fail 'Rust is missing: make test installs it.'
have perl || fail 'perl is missing.'
has_perl_headers || fail "The headers of perl are missing: install libperl-dev."

cargo build --quiet --locked --release -p icecore-capi
library=$(realpath "$target")/release/libicecore_capi.a
cd bindings/perl
# A Makefile remembers the perl and the library that it was made for, and which
# files there were.
files=$(find ./*/ ../common/ -type f ! -path './blib/*' \( -name '*.[ch]' -o -name '*.xsh' -o -path './lib/*' \) | LC_ALL=C sort)
made_for="$(perl -e 'print "$^X $]"') $library $files"
if [ ! -e Makefile ] || [ Makefile.PL -nt Makefile ] || [ "$(cat .made-for 2>/dev/null)" != "$made_for" ]; then
    [ ! -e Makefile ] || make --quiet clean >/dev/null 2>&1 || true
    ICECORE_LIB=$library perl Makefile.PL >/dev/null
    echo "$made_for" >.made-for
fi
# The engine is linked statically: a new one asks for a new link.
if [ "$library" -nt blib/arch/auto/Icecore/Icecore.so ]; then
    rm -f blib/arch/auto/Icecore/Icecore.so
fi
make --quiet

# A file of C calls what stands below it only: tsort finds each circle, and then fails.
check_order() {
    local order
    order=$(nm -A -g Icecore.o ./*/*.o | tr : ' ' | awk '
        $2 == "U" { uses[NR] = $1 " " $3 }
        $3 ~ /^[A-TV-Z]$/ { home[$4] = $1 }
        END { for (i in uses) { split(uses[i], use, " "); if (use[2] in home) print use[1], home[use[2]] } }')
    tsort <<<"$order" >/dev/null || fail 'Files of C call each other in a circle.'
}
# Builds a program of the common pieces, strictly as C99 and, where there are such, with
# sanitizers.
build_common() { # NAME SOURCE
    local flags=(-std=c99 -Wall -Wextra -Wpedantic -Werror -O1 -g -I .. -I ../../crates/icecore-capi/include)
    cc "${flags[@]}" ${sanitizers:+"$sanitizers"} "$2" ../common/*.c "$library" -lpthread -ldl -lm -o "$folder/$1"
}

test_common() {
    local samples=../../docs/cookbook/samples stage
    sanitizers=-fsanitize=address,undefined
    new_folder
    echo 'int main(void) { return 0; }' >"$folder/empty.c"
    cc "$sanitizers" "$folder/empty.c" -o "$folder/empty" 2>/dev/null && "$folder/empty" || sanitizers=
    build_common common ../common/test/common.c
    "$folder/common"
    build_common outline ../common/example/outline.c
    {
        "$folder/outline" "$samples/session.storable" || echo "exit code $?"
        "$folder/outline" "$samples/session.storable" 'App::*'
        "$folder/outline" "$samples/graph.storable" Date::Day
        for stage in json sereal storable php marshal; do
            "$folder/outline" --write "$stage" >"$folder/written"
            "$folder/outline" "$folder/written"
        done
    } >"$folder/said"
    diff "$folder/said" ../common/example/outline.out || fail 'The example says something else.'
    say '1 passed, 0 failed'
}

case $what in
test)
    check_order
    test_common
    prove --blib --quiet t/
    ;;
# An environment variable alone would lose against the line of the Makefile.
install) make --quiet install "DESTDIR=${DESTDIR:-}" ;;
esac
