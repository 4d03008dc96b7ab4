package Lab::Launch;
# Starts programs from a small process that was there before the data: to fork one that
# holds a million records takes longer than to start a perl.
use v5.30;
use warnings;

use IO::Handle ();
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my ($ask, $hear);

# From here on there is such a process. It ends with this one.
sub prepare {
    return if $ask;
    pipe my $asked, $ask or die "a pipe: $!\n";
    pipe $hear, my $heard or die "a pipe: $!\n";
    my $pid = fork // die "fork: $!\n";
    return if $pid;
    close $_ for $ask, $hear;
    $heard->autoflush(1);
    open STDIN, '<', '/dev/null';
    while (defined(my $line = <$asked>)) {
        my ($times, @words) = map { pack 'H*', $_ } split ' ', $line;
        my ($status, $began) = (0, clock_gettime(CLOCK_MONOTONIC));
        for (1 .. $times) { last if $status = system @words }
        printf {$heard} "%d %.9f\n", $status, clock_gettime(CLOCK_MONOTONIC) - $began;
    }
    require POSIX;
    POSIX::_exit(0);
}

# Runs a program this number of times; returns the seconds that it took.
sub run {
    my ($times, @words) = @_;
    $ask->autoflush(1);
    say {$ask} join ' ', map { unpack 'H*', $_ } $times, @words;
    my ($status, $seconds) = split ' ', <$hear> // die "the process that starts programs has ended\n";
    die 'the program ended with status ' . ($status >> 8 || $status) . "\n" if $status;
    return $seconds;
}

1;
