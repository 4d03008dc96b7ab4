#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

Lab::run(
    name    => 'Icecore: Dumper',
    needs   => [['Icecore::Dumper', 'make install-modules']],
    prepare => '($Icecore::Dumper::Indent, $Icecore::Dumper::Terse, $Icecore::Dumper::Quotekeys) = (0, 1, 0); Icecore->import(classes => q(any))',
    write   => 'Icecore::Dumper::Dumper($value)',
    read    => 'Icecore::Dumper::undump($bytes)',
);
