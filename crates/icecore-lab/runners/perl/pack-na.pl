#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;
use Lab::Flat;

Lab::run(
    name    => 'pack (N/A*)*',
    json    => undef,
    carries => Lab::Flat::carries(
        write  => 'pack(q((N/A*)*), LIST)',
        read   => 'unpack(q((N/A*)*), $bytes)',
        refuse => sub { return '' },
    ),
);
