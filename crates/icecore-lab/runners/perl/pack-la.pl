#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;
use Lab::Flat;

Lab::run(
    name    => 'pack (l/A*)*',
    json    => undef,
    carries => Lab::Flat::carries(
        write  => 'pack(q((l/A*)*), LIST)',
        read   => 'unpack(q((l/A*)*), $bytes)',
        refuse => sub { return '' },
    ),
);
