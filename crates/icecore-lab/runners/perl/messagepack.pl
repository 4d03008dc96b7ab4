#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

Lab::run(
    name    => 'Data::MessagePack',
    needs   => [['Data::MessagePack', 'apt-get install libdata-messagepack-perl']],
    prepare => 'my $pack = Data::MessagePack->new->utf8',
    write   => '$pack->pack($value)',
    read    => '$pack->unpack($bytes)',
);
