#!/usr/bin/env perl
# Says what the real Storable and Sereal make of blobs, thousands in a second:
# fixtures/perl/check.pl --plain with lines that are faster to read.
#
# Reads batches: a line with how many there are, then lines of "storable BASE64"
# or "sereal BASE64". Answers each with {"typed":…} or {"error":"…"}, or with
# "died": a blob that takes longer than a tenth of a second of the processor, takes too
# much memory or crashes the module ends the process that reads it. That is a fork for each batch: a new
# one costs a millisecond, where a new perl with its modules costs a hundred, and
# what one blob bends does not reach the next batch.
use v5.36;

use FindBin;
use lib "$FindBin::Bin/../../fixtures/perl/lib";

use Icecore::Real;
use MIME::Base64 qw(decode_base64);
use POSIX ();
use Time::HiRes qw(setitimer ITIMER_PROF);

Icecore::Stubs::record_everything();
$SIG{PROF} = 'DEFAULT';
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

sub answer ($line) {
    my ($format, $blob) = split ' ', $line;
    setitimer(ITIMER_PROF, 0.1);
    my $typed = eval { $reader{$format}->(decode_base64($blob // '')) };
    return defined $typed
        ? "{\"typed\":$typed}\n"
        : '{"error":' . Icecore::Typed::_quote(Icecore::Real::reason("$@")) . "}\n";
}

# Answers in a process of its own; says how many were answered.
sub answered (@lines) {
    # What the child would say again, were it to end by itself.
    STDOUT->flush;
    pipe(my $from, my $to) or die "pipe: $!";
    my $child = fork // die "fork: $!";
    if (!$child) {
        syswrite $to, answer($_) for @lines;
        POSIX::_exit(0);
    }
    close $to;
    my $count = 0;
    while (defined(my $line = <$from>)) {
        last if $line !~ /\n\z/;
        print $line;
        $count++;
    }
    close $from;
    waitpid $child, 0;
    return $count;
}

while (defined(my $count = <STDIN>)) {
    my @lines = map { scalar <STDIN> } 1 .. $count;
    while (@lines) {
        splice @lines, 0, answered(@lines);
        print "died\n" if @lines;
        shift @lines;
    }
    STDOUT->flush;
}
