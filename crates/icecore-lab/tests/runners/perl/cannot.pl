#!/usr/bin/env perl
# Supports no kind of data.
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

Lab::run(
    name    => 'cannot',
    needs   => ['Storable'],
    json    => undef,
    carries => sub { return 'it carries nothing' },
);
