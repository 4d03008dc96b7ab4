# A client that pushes, stores and works until it is killed, and notes the answers:
#
#   kill.pl QUEUE LEASE NOTES SEED
#
# LEASE is in seconds. The format of the lines is in `crates/icecore-store/tests/killing/reported_events.rs`.
use strict;
use warnings;
use Icecore::Client;
use Time::HiRes qw(sleep);

my ($queue, $lease, $notes, $seed) = @ARGV;
srand $seed;
open my $out, '>>', $notes or die "$notes: $!";

# Writes a line with a single call.
sub tell_all { syswrite $out, "@_\n"; return }

my $client = Icecore::Client->new(format => 'json');
my $number = 0;
while (1) {
    # If the daemon is unavailable for too long, try again.
    eval {
        for (1 .. 1 + int rand 3) {
            my $name = "perl-$$ " . $number++;
            if (rand(5) < 1) { tell_all('put', $client->store([$name])) }
            else             { tell_all('pushed', $client->push($queue, [ $name, 1 ], max_attempts => 1_000_000, rand(3) < 1 ? (unique => $name) : ())) }
        }
        $client->work($queue, \&treat, lease => $lease, max => 1 + int rand 3, limit => 3, drain => 1, log => sub { });
        1;
    } or ref $@ && $@->is_passing or die $@;
}

sub treat {
    my ($job) = @_;
    my ($id, $attempt) = ($job->id, $job->attempt);
    tell_all('granted', $id, $attempt, int($lease * 1000), $job->lease_until);
    sleep $lease * 1.5 if rand(10) < 1;
    tell_all('extended', $id, $attempt, $job->lease_until) if rand(5) < 1 && eval { $job->extend; 1 };
    # After its lease, a worker notes nothing: another one may already have the job.
    tell_all('releasing', $id, $attempt) if $job->left > 0;
    # A number, although it was interpolated into a text.
    return 0 + $attempt;
}
