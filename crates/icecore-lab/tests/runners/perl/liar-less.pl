#!/usr/bin/env perl
# Claims to have ended before it began.
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

no warnings 'redefine';
*Lab::Code::loop = sub { return 'sub { return -1 / 1e9 }' };

Lab::run(
    name  => 'liar-less',
    needs => ['Storable'],
    json  => undef,
    write => 'Storable::freeze($value)',
    read  => 'Storable::thaw($bytes)',
);
