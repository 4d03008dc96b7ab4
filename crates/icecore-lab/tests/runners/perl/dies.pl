#!/usr/bin/env perl
# Is killed in the middle of timing.
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

my $calls = 0;

sub Lab::Made::until_then {
    my ($value) = @_;
    # The first call is the one of the check.
    if (++$calls > 1) { print STDERR "it could not go on\n"; kill KILL => $$ }
    return $value;
}

Lab::run(
    name  => 'dies',
    needs => ['Storable'],
    json  => undef,
    write => 'Storable::freeze($value)',
    read  => 'until_then(Storable::thaw($bytes))',
);
