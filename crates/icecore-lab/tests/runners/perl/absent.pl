#!/usr/bin/env perl
# Needs a module that nobody has.
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

Lab::run(
    name  => 'absent',
    needs => [['No::Such::Module', 'apt-get install libno-such-module-perl']],
    json  => undef,
    write => 'Storable::freeze($value)',
    read  => 'Storable::thaw($bytes)',
);
