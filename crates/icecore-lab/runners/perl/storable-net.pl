#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

Lab::run(
    name     => 'Storable, network order',
    needs    => ['Storable'],
    write    => 'Storable::nfreeze($value)',
    read     => 'Storable::thaw($bytes)',
    store    => 'Storable::nstore($value, $file)',
    retrieve => 'Storable::retrieve($file)',
);
