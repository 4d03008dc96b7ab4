# Works on the jobs of an article's daemon: the result is the cost of a job times a factor.
use strict;
use warnings;
use Icecore::Client;

my ($factor) = @ARGV;
my $client = Icecore::Client->new;
print $client->work('jobs', \&treat, drain => 1);

sub treat {
    my ($job) = @_;
    die "a factor of nothing\n" unless $factor;
    my $args  = $job->value->{args};
    my $total = 0;
    $total += $_->{price} * $_->{count} for values %{ $args->{rows} };
    return { user => $args->{user_id}, total => $total * $factor, name => $job->value->{name} };
}
