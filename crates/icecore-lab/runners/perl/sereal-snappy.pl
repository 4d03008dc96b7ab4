#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

# The calls that its documentation names as the fastest.
Lab::run(
    name    => 'Sereal, snappy',
    needs   => [['Sereal::Encoder', 'apt-get install libsereal-encoder-perl'], ['Sereal::Decoder', 'apt-get install libsereal-decoder-perl']],
    prepare => 'my $encoder = Sereal::Encoder->new({ compress => Sereal::Encoder::SRL_SNAPPY() }); my $decoder = Sereal::Decoder->new',
    write   => 'Sereal::Encoder::sereal_encode_with_object($encoder, $value)',
    read    => 'Sereal::Decoder::sereal_decode_with_object($decoder, $bytes)',
);
