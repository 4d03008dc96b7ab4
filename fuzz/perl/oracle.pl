#!/usr/bin/env perl
# Reports how the real Storable and Sereal read blobs, thousands per second:
# fixtures/perl/check.pl --plain with lines that are faster to parse.
#
# Reads batches: a line with the number of blobs, then lines of "storable BASE64"
# or "sereal BASE64". Answers each with {"typed":…} or {"error":"…"}, or with
# "died": a blob that takes longer than a tenth of a second of CPU time, takes too
# much memory or crashes the module ends the process that reads it. There is one fork per batch: a new
# fork costs a millisecond, but a new perl with its modules costs a hundred, and
# changes that one blob makes to the process do not affect the next batch.
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

# Returns a Sereal document together with its user header.
sub sereal ($blob) {
    my $typed  = Icecore::Real::sereal_typed($blob, plain => 1);
    my $header = eval { Icecore::Real::sereal_typed($blob, plain => 1, header => 1) };
    # A document without a header gives undef, which is written as null.
    if (my ($header_value) = ($header // '') =~ /"\$value":(?!null)(.*)\}\z/s) {
        $typed =~ s/"\$value":/"\$header":$header_value,"\$value":/;
    }
    return $typed;
}

# Returns the answer to a line.
sub answer ($line) {
    my ($format, $blob) = split ' ', $line;
    setitimer(ITIMER_PROF, 0.1);
    my $typed = eval { $reader{$format}->(decode_base64($blob // '')) };
    return defined $typed
        ? "{\"typed\":$typed}\n"
        : '{"error":' . Icecore::Typed::_quote(Icecore::Real::reason("$@")) . "}\n";
}

# Answers lines in a separate process. Returns the number of lines that were answered.
sub answer_in_fork (@lines) {
    # Buffered output is written before the fork, so that the child has none to write a second time.
    STDOUT->flush;
    pipe(my $reader, my $writer) or die "pipe: $!";
    my $child = fork // die "fork: $!";
    if (!$child) {
        syswrite $writer, answer($_) for @lines;
        POSIX::_exit(0);
    }
    close $writer;
    my $count = 0;
    while (defined(my $line = <$reader>)) {
        last if $line !~ /\n\z/;
        print $line;
        $count++;
    }
    close $reader;
    waitpid $child, 0;
    return $count;
}

while (defined(my $count = <STDIN>)) {
    my @lines = map { scalar <STDIN> } 1 .. $count;
    while (@lines) {
        splice @lines, 0, answer_in_fork(@lines);
        print "died\n" if @lines;
        shift @lines;
    }
    STDOUT->flush;
}
