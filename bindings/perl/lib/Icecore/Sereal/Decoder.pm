package Icecore::Sereal::Decoder;
use v5.30;
use warnings;

use Exporter 'import';
use Icecore;

our $VERSION   = $Icecore::VERSION;
our @EXPORT_OK = qw(decode_sereal decode_sereal_with_header_data looks_like_sereal scalar_looks_like_sereal
    sereal_decode_with_object);
our %EXPORT_TAGS = (all => \@EXPORT_OK);

*decode_sereal = \&Icecore::Sereal::decode_sereal;

sub decode_sereal_with_header_data { goto &Icecore::Sereal::decode_sereal_with_header_data }
sub sereal_decode_with_object      { my ($decoder, @bytes) = @_; return $decoder->decode(@bytes) }

# A function, a class method and an object's method.
sub looks_like_sereal {
    my $version = Icecore::Sereal::_looks_like($_[-1]);
    return $version < 0 ? !!0 : $version;
}

sub scalar_looks_like_sereal { return looks_like_sereal($_[-1]) }

sub decode_only_header {
    my ($self, $bytes) = @_;
    my ($header) = _decode($self, $_[1], 0, 1);
    $_[2] = $header if @_ > 2;
    return $header;
}

sub decode_with_header {
    my ($self) = @_;
    my ($header, $body) = _decode($self, $_[1], 0, 2);
    $_[2] = $body   if @_ > 2;
    $_[3] = $header if @_ > 3;
    return [$header, $body];
}

sub decode_with_offset {
    my ($self, undef, $offset) = @_;
    my ($body) = _decode($self, $_[1], $offset, 0);
    $_[3] = $body if @_ > 3;
    return $body;
}

sub decode_only_header_with_offset {
    my ($self, undef, $offset) = @_;
    my ($header) = _decode($self, $_[1], $offset, 1);
    $_[3] = $header if @_ > 3;
    return $header;
}

sub decode_with_header_and_offset {
    my ($self, undef, $offset) = @_;
    my ($header, $body) = _decode($self, $_[1], $offset, 2);
    $_[3] = $body   if @_ > 3;
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
    if (!wantarray) {
        my $result = $decoder->decode($bytes);
        $_[2] = $result if @_ > 2;
        return $result;
    }
    my ($offset, @results) = (0);
    while ($offset < length $bytes) {
        push @results, $decoder->decode_with_offset($bytes, $offset);
        $offset += $decoder->bytes_consumed;
    }
    $_[2] = \@results if @_ > 2;
    return @results;
}

# An object holds the address of something that is not shared between threads.
sub CLONE_SKIP { return 1 }

1;
