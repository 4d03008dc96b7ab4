package Icecore::Client::Job;

# A job for which a worker has a lease.

use v5.30;
use warnings;

use Icecore::Client::HTTP;

sub id       { return $_[0]{id} }
sub queue    { return $_[0]{queue} }
sub attempt  { return $_[0]{attempt} }
sub value    { return $_[0]{value} }
sub bytes    { return $_[0]{bytes} }
sub format   { return $_[0]{format} }
sub checksum { return $_[0]{checksum} }

# The end of the lease by the clock of the database, in milliseconds since 1970.
sub lease_until { return $_[0]{lease_until} }

# The remaining seconds of the lease, by the clock of this machine.
sub left { return $_[0]{ends} - Icecore::Client::HTTP::now() }

# Extends the lease to this many seconds from now on. Dies with the kind `lease` if the lease was lost.
sub extend {
    my ($self, $lease) = @_;
    $lease //= $self->{lease};
    my $requested_at = Icecore::Client::HTTP::now();
    my $answer       = $self->{http}->request(
        'POST', "/jobs/$self->{id}/extend",
        query => { lease => $lease },
        $self->_token,
    );
    @$self{qw(ends lease_until)} = ($requested_at + $lease, $answer->{lease_until});
    return;
}

# Returns the parts of a request with the token of the lease. The token is in the body and not in the URL,
# because servers write URLs to their logs.
sub _token {
    my ($self, %more) = @_;
    my $content = Icecore::JSON->new->utf8->encode({ token => $self->{token}, %more });
    return (content => $content, type => 'application/json');
}

1;
