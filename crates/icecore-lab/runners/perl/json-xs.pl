#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

Lab::run(
    name    => 'JSON::XS',
    needs   => [['JSON::XS', 'apt-get install libjson-xs-perl']],
    json    => undef,
    prepare => 'my $json = JSON::XS->new->utf8->allow_nonref',
    write   => '$json->encode($value)',
    read    => '$json->decode($bytes)',
);
