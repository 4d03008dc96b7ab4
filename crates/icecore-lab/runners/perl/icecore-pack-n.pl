#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;
use Lab::Flat;

Lab::run(
    name    => 'Icecore: pack_list N*',
    needs   => [['Icecore', 'make install-modules']],
    json    => undef,
    carries => Lab::Flat::carries(
        write  => 'Icecore::pack_list(q(N*), LIST)',
        read   => 'Icecore::unpack_list(q(N*), $bytes)',
        refuse => sub { return 'it only carries integers from 0 to 2**32 - 1' if $_[0] !~ /\A(?:0|[1-9][0-9]{0,9})\z/ || $_[0] >= 2**32 },
    ),
);
