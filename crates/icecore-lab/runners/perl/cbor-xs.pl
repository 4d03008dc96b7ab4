#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

Lab::run(
    name    => 'CBOR::XS',
    needs   => [['CBOR::XS', 'apt-get install libcbor-xs-perl']],
    prepare => 'my $cbor = CBOR::XS->new',
    write   => '$cbor->encode($value)',
    read    => '$cbor->decode($bytes)',
);
