#!/usr/bin/env bash
# Compares the allow lists of Icecore::Sereal with those of the Sereal in Debian sid (5.011 or later), in cases
# other than the recorded ones.
#
#   scripts/sid.sh [FOLDER [FIRST COUNT]]    keeps the system in FOLDER for the next time
#   scripts/sid.sh --record FOLDER           writes bindings/perl/t/lib/sereal-lists.jsonl again
#
# Needs root, debootstrap and the network, and the built Perl module; it exits with 75 if it can't run.
. "$(dirname "$0")/common.sh"
record=
if [ "${1:-}" = --record ]; then
    record=yes
    shift
    [ $# -gt 0 ] || fail 'say the folder of the system'
fi
[ "$(id -u)" -eq 0 ] || exit_skipped 'a Debian sid can only be made by root'
[ -n "$record" ] || [ -e bindings/perl/blib/arch/auto/Icecore/Icecore.so ] || exit_skipped 'the module for Perl is not built'
new_folder
tree=${1:-$folder/sid}
has_sereal() {
    [ -x "$tree/usr/bin/perl" ] && chroot "$tree" perl -MSereal::Decoder=5.011 -e 1 2>/dev/null
}
if ! has_sereal; then
    have debootstrap || exit_skipped 'debootstrap is missing'
    say 'making a Debian sid'
    debootstrap --variant=minbase --include=perl,libsereal-encoder-perl,libsereal-decoder-perl sid "$tree" >/dev/null 2>&1 ||
        exit_skipped 'debootstrap could not make a Debian sid: is there a network?'
fi
has_sereal || exit_skipped 'its Sereal is older than 5.011'

rm -rf "$tree/icecore"
mkdir -p "$tree/icecore/fixtures/perl" "$tree/icecore/bindings/perl/t/lib"
cp fixtures/perl/sereal-lists.pl "$tree/icecore/fixtures/perl/"
cp bindings/perl/t/lib/SerealLists.pm "$tree/icecore/bindings/perl/t/lib/"
# Prints the lists of Sereal for these cases.
record_lists() { # FIRST COUNT
    chroot "$tree" perl /icecore/fixtures/perl/sereal-lists.pl "$@"
}
if [ -n "$record" ]; then
    record_lists 1 600 >bindings/perl/t/lib/sereal-lists.jsonl
    exit
fi
record_lists "${2:-1000000}" "${3:-20000}" >"$folder/lists.jsonl"
ICECORE_SEREAL_LISTS=$folder/lists.jsonl perl -Mblib=bindings/perl bindings/perl/t/sereal-lists.t
