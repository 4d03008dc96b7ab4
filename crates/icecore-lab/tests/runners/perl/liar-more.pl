#!/usr/bin/env perl
# Claims to have worked for an hour.
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

no warnings 'redefine';
*Lab::Code::loop = sub { return 'sub { return 3600e9 / 1e9 }' };

Lab::run(
    name  => 'liar-more',
    needs => ['Storable'],
    json  => undef,
    write => 'Storable::freeze($value)',
    read  => 'Storable::thaw($bytes)',
);
