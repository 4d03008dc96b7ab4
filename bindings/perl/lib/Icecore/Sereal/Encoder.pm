package Icecore::Sereal::Encoder;
use v5.30;
use warnings;

use Exporter 'import';
use Icecore;

our $VERSION   = $Icecore::VERSION;
our @EXPORT_OK = qw(encode_sereal encode_sereal_with_header_data sereal_encode_with_object
    SRL_UNCOMPRESSED SRL_SNAPPY SRL_ZLIB SRL_ZSTD);
our %EXPORT_TAGS = (all => \@EXPORT_OK);

use constant { SRL_UNCOMPRESSED => 0, SRL_SNAPPY => 1, SRL_ZLIB => 2, SRL_ZSTD => 3 };

*encode_sereal                  = \&Icecore::Sereal::encode_sereal;
*sereal_encode_with_object      = \&Icecore::Sereal::sereal_encode_with_object;
*encode_sereal_with_header_data = \&Icecore::Sereal::encode_sereal_with_header_data;

sub encode_to_file {
    my ($self, $file, $data, $append) = @_;
    open my $out, $append ? '>>' : '>', $file or die "Failed to open '$file' for writing: $!";
    binmode $out;
    print {$out} ref $self ? $self->encode($data) : encode_sereal($data) or die "Failed to write to '$file': $!";
    close $out or die "Failed to close '$file': $!";
    return 1;
}

# An object contains the address of memory that threads don't share.
sub CLONE_SKIP { return 1 }

1;
