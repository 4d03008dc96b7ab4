#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

Lab::run(
    name    => 'Icecore: Sereal',
    needs   => [['Icecore::Sereal', 'make install-modules']],
    json    => 'Icecore::JSON',
    prepare => 'Icecore->import(classes => q(any)); my $encoder = Icecore::Sereal::Encoder->new(); my $decoder = Icecore::Sereal::Decoder->new',
    write   => 'Icecore::Sereal::sereal_encode_with_object($encoder, $value)',
    read    => 'Icecore::Sereal::sereal_decode_with_object($decoder, $bytes)',
);
