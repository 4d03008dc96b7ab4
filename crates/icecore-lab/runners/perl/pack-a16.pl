#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;
use Lab::Flat;

Lab::run(
    name    => 'pack (A16)*',
    json    => undef,
    carries => Lab::Flat::carries(
        write  => 'pack(q((A16)*), LIST)',
        read   => 'unpack(q((A16)*), $bytes)',
        refuse => sub { return 'it only carries up to 16 characters' if length $_[0] > 16 },
    ),
);
