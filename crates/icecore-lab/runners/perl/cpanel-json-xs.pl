#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

Lab::run(
    name    => 'Cpanel::JSON::XS',
    needs   => [['Cpanel::JSON::XS', 'apt-get install libcpanel-json-xs-perl']],
    json    => undef,
    prepare => 'my $json = Cpanel::JSON::XS->new->utf8->allow_nonref',
    write   => '$json->encode($value)',
    read    => '$json->decode($bytes)',
);
