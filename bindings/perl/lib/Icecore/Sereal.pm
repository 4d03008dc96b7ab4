package Icecore::Sereal;
use v5.30;
use warnings;

use Icecore;
use Icecore::Sereal::Decoder ();
use Icecore::Sereal::Encoder ();

our $VERSION   = $Icecore::VERSION;
our @EXPORT_OK = qw(
    encode_sereal decode_sereal encode_sereal_with_header_data
    sereal_encode_with_object sereal_decode_with_object
    decode_sereal_with_header_data
    read_sereal read_sereal_file write_sereal write_sereal_file
    looks_like_sereal scalar_looks_like_sereal get_sereal_decoder get_sereal_encoder clear_sereal_object_cache
    SRL_UNCOMPRESSED SRL_SNAPPY SRL_ZLIB SRL_ZSTD
);
our %EXPORT_TAGS = (all => \@EXPORT_OK);

use constant { SRL_UNCOMPRESSED => 0, SRL_SNAPPY => 1, SRL_ZLIB => 2, SRL_ZSTD => 3 };

*import = \&Icecore::_import_names;

# The parts of a document that are decoded, as in sereal/sereal.h.
my ($HEADER, $BODY_AND_HEADER) = (1, 2);

# Returns the protocol if the bytes begin like a Sereal document, 0 if they were encoded as
# UTF-8 by mistake, '' otherwise. The bytes are the last argument, so this may be called as a method, too.
sub looks_like_sereal {
    my $version = _looks_like($_[-1]);
    return $version < 0 ? !!0 : $version;
}

sub scalar_looks_like_sereal ($) { return looks_like_sereal($_[-1]) }

sub decode_sereal_with_header_data {
    my ($header, $body) = _decode_with($_[0], $_[1], $BODY_AND_HEADER, @_ > 2 ? $_[2] : ());
    $_[3] = $header if @_ > 3;
    return [$header, $body];
}

sub decode_only_sereal_header { return (_decode_with($_[0], $_[1], $HEADER))[0] }

# Write and read whole files. The options are those of an encoder or a decoder.
sub write_sereal_file {
    my ($file, $data, $append, $options) = @_;
    return get_sereal_encoder($options)->encode_to_file($file, $data, $append);
}

sub read_sereal_file {
    my ($file, $options) = @_;
    return get_sereal_decoder($options)->decode_from_file($file, @_ > 2 ? $_[2] : ());
}

*write_sereal = \&write_sereal_file;
*read_sereal  = \&read_sereal_file;

# Caches of encoders and decoders, by their options.
my (%encoders, %decoders);

sub get_sereal_encoder {
    my ($options) = @_;
    return $encoders{ _cache_key($options) } //= Icecore::Sereal::Encoder->new($options // {});
}

sub get_sereal_decoder {
    my ($options) = @_;
    return $decoders{ _cache_key($options) } //= Icecore::Sereal::Decoder->new($options // {});
}

sub clear_sereal_object_cache {
    my $count = keys(%encoders) + keys %decoders;
    %encoders = %decoders = ();
    return $count;
}

# Returns the key of options in the caches: their names and values, in the order of the names.
sub _cache_key {
    my ($options) = @_;
    return join "\0", map { $_, $options->{$_} // '' } sort keys %{ $options // {} };
}

sub CLONE { %encoders = %decoders = (); return }

1;
