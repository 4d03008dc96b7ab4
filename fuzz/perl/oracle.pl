#!/usr/bin/env perl
# Says what the real Storable and Sereal make of blobs, thousands in a second:
# fixtures/perl/check.pl --plain with lines that are faster to read.
#
# Reads lines of "storable BASE64" or "sereal BASE64", answers each with
# {"typed":…} or {"error":"…"}. A blob that takes longer than five seconds ends
# the process, as one does that takes too much memory or crashes the module:
# whoever asks starts another.
use v5.36;

use FindBin;
use lib "$FindBin::Bin/../../fixtures/perl/lib";

use Icecore::Real;
use MIME::Base64 qw(decode_base64);

Icecore::Stubs::record_everything();
$SIG{ALRM} = 'DEFAULT';
$| = 1;
binmode STDOUT;
my %reader = (storable => sub ($blob) { Icecore::Real::storable_typed($blob, plain => 1) }, sereal => \&sereal);

# A document of Sereal, its user header beside it.
sub sereal ($blob) {
    my $typed  = Icecore::Real::sereal_typed($blob, plain => 1);
    my $header = eval { Icecore::Real::sereal_typed($blob, plain => 1, header => 1) };
    # Without a header it says undef.
    if (my ($said) = ($header // '') =~ /"\$value":(?!null)(.*)\}\z/s) {
        $typed =~ s/"\$value":/"\$header":$said,"\$value":/;
    }
    return $typed;
}

while (defined(my $line = <STDIN>)) {
    my ($format, $blob) = split ' ', $line;
    alarm 5;
    my $typed = eval { $reader{$format}->(decode_base64($blob // '')) };
    print defined $typed
        ? "{\"typed\":$typed}\n"
        : '{"error":' . Icecore::Typed::_quote(Icecore::Real::reason("$@")) . "}\n";
}
