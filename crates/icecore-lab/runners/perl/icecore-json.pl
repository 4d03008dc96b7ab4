#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

Lab::run(
    name    => 'Icecore: JSON',
    needs   => [['Icecore::JSON', 'make install-modules']],
    json    => undef,
    prepare => 'my $json = Icecore::JSON->new->utf8->allow_nonref',
    write   => '$json->encode($value)',
    read    => '$json->decode($bytes)',
);
