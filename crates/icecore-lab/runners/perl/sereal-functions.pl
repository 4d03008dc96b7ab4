#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

# encode_sereal makes an encoder for each call.
Lab::run(
    name  => 'Sereal, functions',
    needs => [['Sereal::Encoder', 'apt-get install libsereal-encoder-perl'], ['Sereal::Decoder', 'apt-get install libsereal-decoder-perl']],
    write => 'Sereal::Encoder::encode_sereal($value)',
    read  => 'Sereal::Decoder::decode_sereal($bytes)',
);
