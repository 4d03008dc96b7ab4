#!/bin/sh
# Runs all tests of the Ruby module.
#
#   run.sh [LIB]        LIB is the folder of icecore.rb; default: bindings/ruby/lib
#
# RUBY names another ruby. ICECORE_LONG=1 runs longer (10: much longer), and with other random values each time;
# without it the seed is ICECORE_SEED, or 2. CHANCE is the number of random values: 3,000 by default, 10,000
# with ICECORE_FULL=1.
# ICECORE_STAND_IN=1 tests the tests with Ruby's own Marshal.
here=$(cd "$(dirname "$0")" && pwd)
export ICECORE_RUBY_LIB="${1:-$here/../lib}"
status=0
# The output of a test must not change from run to run.
seed=${ICECORE_SEED:-${ICECORE_LONG:+random}}
for program in harness behaviour chance core_set wrappers damaged contract payloads hooks foreign replace collector iosources client client_hostile; do
    [ -e "$here/$program.rb" ] || continue
    echo "# $program"
    set --
    if [ $program = chance ]; then
        [ "$seed" = random ] || set -- --seed "${seed:-2}"
        set -- "$@" ${CHANCE:+--count "$CHANCE"}
    fi
    "${RUBY:-ruby}" -w "$here/$program.rb" "$@" || status=1
done
exit $status
