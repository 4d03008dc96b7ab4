#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;
use Lab::Flat;

Lab::run(
    name    => 'Icecore: pack_list l*',
    needs   => [['Icecore', 'make install-modules']],
    json    => undef,
    carries => Lab::Flat::carries(
        write  => 'Icecore::pack_list(q(l*), LIST)',
        read   => 'Icecore::unpack_list(q(l*), $bytes)',
        refuse => sub { return 'it only carries integers of 32 bits' if $_[0] !~ /\A(?:0|-?[1-9][0-9]{0,9})\z/ || $_[0] < -2**31 || $_[0] >= 2**31 },
    ),
);
