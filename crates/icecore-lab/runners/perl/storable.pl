#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

Lab::run(
    name     => 'Storable',
    needs    => ['Storable'],
    write    => 'Storable::freeze($value)',
    read     => 'Storable::thaw($bytes)',
    store    => 'Storable::store($value, $file)',
    retrieve => 'Storable::retrieve($file)',
);
