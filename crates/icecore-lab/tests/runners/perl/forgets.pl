#!/usr/bin/env perl
# Reads all but one element or key.
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

sub Lab::Made::without_one {
    my ($value) = @_;
    ref $value eq 'HASH' ? delete $value->{ (sort keys %$value)[0] // '' } : pop @$value;
    return $value;
}

Lab::run(
    name  => 'forgets',
    needs => ['Storable'],
    json  => undef,
    write => 'Storable::freeze($value)',
    read  => 'without_one(Storable::thaw($bytes))',
);
