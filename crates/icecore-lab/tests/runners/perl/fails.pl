#!/usr/bin/env perl
# Dies as programs of Perl do, in each reading.
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

Lab::run(
    name  => 'fails',
    needs => ['Storable'],
    json  => undef,
    write => 'Storable::freeze($value)',
    read  => 'die qq(the bytes are bad\n)',
);
