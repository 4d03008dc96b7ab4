#!/usr/bin/env perl
# Dies as Perl programs do, in each read.
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
