#!/usr/bin/env perl
# Loading a module gives no warnings, whatever warnings are enabled.
use v5.30;
use warnings;

use Test::More;

my $folders = join ' ', map { qq("-I$_") } grep { !ref } @INC;
for my $module (qw(Icecore Icecore::Dumper Icecore::JSON Icecore::Sereal Icecore::Sereal::Decoder
    Icecore::Sereal::Encoder Icecore::Storable)) {
    my $outcome = qx("$^X" $folders -w -M$module -e "print qq(loaded)" 2>&1);
    is $outcome, 'loaded', $module;
}

done_testing;
