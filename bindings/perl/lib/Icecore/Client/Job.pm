package Icecore::Client::Job;

# A job that a worker holds for a while.

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

# Keeps the job for this many seconds from now on; dies with the kind `lease` if another worker
# has it already.
sub extend {
    my ($self, $lease) = @_;
    $lease //= $self->{lease};
    my $asked = Icecore::Client::HTTP::now();
    my $said  = $self->{http}->ask('POST', "/jobs/$self->{id}/extend", query => { lease => $lease }, $self->_token);
    @$self{qw(ends lease_until)} = ($asked + $lease, $said->{lease_until});
    return;
}

# The token is in the body, where no server log shows it.
sub _token {
    my ($self, %more) = @_;
    return (content => Icecore::JSON->new->utf8->encode({ token => $self->{token}, %more }), type => 'application/json');
}

1;
