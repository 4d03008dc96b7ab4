#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;
use Lab::Flat;

# split($;, ...) would compile its pattern again in each call.
Lab::run(
    name    => 'split, join',
    json    => undef,
    carries => Lab::Flat::carries(
        write  => 'join($;, LIST)',
        read   => 'split(/$;/, $bytes, -1)',
        refuse => sub { return 'it does not carry its separator' if index($_[0], $;) >= 0 },
    ),
);
