package Icecore::Sereal::Decoder;
use v5.30;
use warnings;

use Exporter 'import';
use Icecore;

our $VERSION   = $Icecore::VERSION;
our @EXPORT_OK = qw(decode_sereal decode_sereal_with_header_data looks_like_sereal scalar_looks_like_sereal
    sereal_decode_with_object);
our %EXPORT_TAGS = (all => \@EXPORT_OK);

*decode_sereal             = \&Icecore::Sereal::decode_sereal;
*sereal_decode_with_object = \&Icecore::Sereal::sereal_decode_with_object;

# The parts of a document that are decoded, as in sereal/sereal.h.
my ($BODY, $HEADER, $BODY_AND_HEADER) = (0, 1, 2);

sub decode_sereal_with_header_data { goto &Icecore::Sereal::decode_sereal_with_header_data }

# This may be called as a function, as a class method and as an object method.
sub looks_like_sereal {
    my $version = Icecore::Sereal::_looks_like($_[-1]);
    return $version < 0 ? !!0 : $version;
}

sub scalar_looks_like_sereal ($) { return looks_like_sereal($_[-1]) }

sub decode_only_header {
    my ($header) = _decode($_[0], $_[1], 0, $HEADER);
    $_[2] = $header if @_ > 2;
    return $header;
}

sub decode_with_header {
    my ($header, $body) = _decode($_[0], $_[1], 0, $BODY_AND_HEADER, @_ > 2 ? $_[2] : ());
    $_[3] = $header if @_ > 3;
    return [$header, $body];
}

sub decode_with_offset { return (_decode($_[0], $_[1], $_[2], $BODY, @_ > 3 ? $_[3] : ()))[0] }

sub decode_only_header_with_offset {
    my ($header) = _decode($_[0], $_[1], $_[2], $HEADER);
    $_[3] = $header if @_ > 3;
    return $header;
}

sub decode_with_header_and_offset {
    my ($header, $body) = _decode($_[0], $_[1], $_[2], $BODY_AND_HEADER, @_ > 3 ? $_[3] : ());
    $_[4] = $header if @_ > 4;
    return [$header, $body];
}

sub decode_from_file {
    my ($self, $file) = @_;
    open my $in, '<', $file or die "Failed to open '$file' for reading: $!";
    binmode $in;
    local $/ = undef;
    my $bytes = <$in>;
    close $in or die "Failed to close '$file': $!";
    my $decoder = ref $self ? $self : $self->new;
    return $decoder->decode($bytes, @_ > 2 ? $_[2] : ()) if !wantarray || !_is_incremental($decoder);
    my @results;
    push @results, $decoder->decode($bytes) while length $bytes;
    return @results;
}

# An object contains the address of memory that threads don't share.
sub CLONE_SKIP { return 1 }

1;
