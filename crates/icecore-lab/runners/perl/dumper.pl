#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

Lab::run(
    name    => 'Data::Dumper',
    needs   => ['Data::Dumper'],
    prepare => '($Data::Dumper::Indent, $Data::Dumper::Terse, $Data::Dumper::Quotekeys) = (0, 1, 0)',
    write   => 'Data::Dumper::Dumper($value)',
    read    => 'eval $bytes',
);
