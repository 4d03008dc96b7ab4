package Pairs;

# Measures the times of two functions in turns.

use strict;
use warnings;

use Exporter 'import';
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);

our @EXPORT = qw(compare);

# Returns the median of the ratios of the two times, the lowest ratio and the highest. A ratio above
# 1 means that the first function is faster.
sub compare {
    my ($rounds, $ours, $theirs) = @_;
    my $count = 1;
    while (1) {
        my $seconds = timed($theirs, $count);
        last if $seconds > 0.02 || $count >= 1 << 20;
        $count *= $seconds > 0.002 ? int(0.02 / $seconds) + 1 : 10;
    }
    timed($ours, $count);
    my @ratios;
    for my $round (1 .. $rounds) {
        my ($a, $b);
        if ($round % 2) { $a = timed($ours,   $count); $b = timed($theirs, $count) }
        else            { $b = timed($theirs, $count); $a = timed($ours,   $count) }
        push @ratios, $b / $a;
    }
    @ratios = sort { $a <=> $b } @ratios;
    return (@ratios[@ratios / 2, 0, -1]);
}

sub timed {
    my ($code, $count) = @_;
    my $start = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    $code->($count);
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $start;
}

1;
