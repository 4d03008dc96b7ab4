#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

Lab::run(
    name     => 'Icecore: Storable',
    needs    => [['Icecore::Storable', 'make install-modules']],
    json     => 'Icecore::JSON',
    prepare  => 'Icecore->import(classes => q(any))',
    write    => 'Icecore::Storable::freeze($value)',
    read     => 'Icecore::Storable::thaw($bytes)',
    store    => 'Icecore::Storable::store($value, $file)',
    retrieve => 'Icecore::Storable::retrieve($file)',
);
