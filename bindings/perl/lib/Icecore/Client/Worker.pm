package Icecore::Client::Worker;

# Takes jobs of a queue, one after the other, until it is stopped.

use v5.30;
use warnings;

use List::Util qw(min);
use MIME::Base64 qw(decode_base64);
use Sys::Hostname qw(hostname);
use Time::HiRes qw(sleep);

use Icecore ();
use Icecore::Client::HTTP;
use Icecore::Client::Job;

# The length of an error that the daemon stores.
my $LONGEST_ERROR = 4_000;

sub new {
    my ($class, %options) = @_;
    my $self = bless { lease => 60, max => 1, wait => 5, log => sub { warn "$_[0]\n" }, %options }, $class;
    $self->{worker} //= hostname() . ":$$";
    return $self;
}

# Returns the number of jobs that it worked on.
sub run {
    my ($self, $code) = @_;
    # The current job is finished, and no other one is begun.
    local $SIG{INT}  = sub { $self->{stop} = 1 };
    local $SIG{TERM} = $SIG{INT};
    my ($worked, $pause) = (0, 0.1);
    while (!$self->{stop} && $worked < ($self->{limit} // 9**9**9)) {
        my $jobs;
        if (!eval { $jobs = $self->claim($worked); 1 }) {
            my $error = $@;
            die $error unless ref $error && $error->is_passing;
            $self->{log}->("waiting for the daemon: " . $error->message) if $pause == 0.1;
            $self->rest(Icecore::Client::HTTP::longer($pause, $error));
            $pause = min($pause * 2, 30);
            next;
        }
        $pause = 0.1;
        last if !@$jobs && $self->{drain};
        for my $job (@$jobs) {
            if ($self->{stop}) { $self->give_back($job); next }
            $self->work($job, $code);
            $worked++;
        }
    }
    return $worked;
}

sub claim {
    my ($self, $worked) = @_;
    my $max   = min($self->{max}, ($self->{limit} // 9**9**9) - $worked);
    my $wait  = $self->{drain} ? 0 : $self->{wait};
    my %query = (worker => $self->{worker}, lease => $self->{lease}, max => $max, wait => $wait, brief => 'true', bytes => 'true');
    my $asked = Icecore::Client::HTTP::now();
    my $answer = $self->{http}->ask('POST', '/queues/' . Icecore::Client::HTTP::escaped($self->{queue}) . '/claim', query => \%query, longer => $wait, content => '');
    my $jobs = $answer->{jobs};
    return [ map { $self->job($_, $asked) } grep { ref eq 'HASH' } ref $jobs eq 'ARRAY' ? @$jobs : () ];
}

sub job {
    my ($self, $said, $asked) = @_;
    my $id = $said->{id};
    Icecore::Client::Error->throw(kind => 'answer', message => 'a job without an id') unless defined $id && $id =~ /\A[0-9a-f-]{36}\z/;
    my %fields = map { $_ => $said->{$_} } qw(id queue attempt token format checksum lease_until);
    return bless {
        %fields,
        bytes => decode_base64($said->{bytes} // ''),
        http  => $self->{http},
        lease => $self->{lease},
        ends  => $asked + $self->{lease},
    }, 'Icecore::Client::Job';
}

sub work {
    my ($self, $job, $code) = @_;
    # It waited too long for other jobs: another worker may have it.
    return $self->{log}->("job $job->{id}: its lease ended before it was begun") if $job->left <= 0;
    if (!eval { $job->{value} = $self->{thaw}->($job->{bytes}, $job->{format}); 1 }) {
        return $self->end($job, 'nack', error => told($@));
    }
    my $result;
    if (!eval { $result = $code->($job); 1 }) {
        return $self->end($job, 'nack', error => told($@));
    }
    # A result that is not plain data is not stored.
    my %result = eval { Icecore::JSON->new->utf8->encode({ result => $result }); 1 } && defined $result ? (result => $result) : ();
    my $refused = $self->end($job, 'ack', %result) or return;
    $self->end($job, 'nack', error => 'the result was refused: ' . $refused->message);
    return;
}

sub told {
    my ($error) = @_;
    my $text = eval { "$error" } // 'an error without words';
    return substr $text =~ s/\s+\z//r, 0, $LONGEST_ERROR;
}

# Gives a job back that was not begun.
sub give_back {
    my ($self, $job) = @_;
    eval { $self->{http}->ask('POST', "/jobs/$job->{id}/nack", $job->_token(error => 'the worker stopped', delay => 0)) };
    return;
}

# Reports the result of a job, until the daemon has received it or the lease is over. Returns an
# error if the daemon refuses the report.
sub end {
    my ($self, $job, $how, %said) = @_;
    my ($pause, $tries) = (0.05, 0);
    while (1) {
        return if eval { $self->{http}->ask('POST', "/jobs/$job->{id}/$how", $job->_token(%said)); 1 };
        my $error = $@;
        die $error unless ref $error;
        if (!$error->is_passing) {
            return $error if exists $said{result} && ($error->status == 400 || $error->status == 413);
            # If it is refused because the first answer was lost, the report was successful.
            $self->{log}->("job $job->{id}: $how: " . $error->message) if $tries == 0 || $error->kind ne 'lease';
            return;
        }
        $tries++;
        if ($job->left <= $pause) {
            $self->{log}->("job $job->{id}: its lease ended while the daemon was away");
            return;
        }
        sleep($pause);
        $pause = min($pause * 2, 2);
    }
}

# Sleeps, but wakes up when the worker is stopped.
sub rest {
    my ($self, $seconds) = @_;
    my $until = Icecore::Client::HTTP::now() + $seconds;
    while (!$self->{stop} && (my $left = $until - Icecore::Client::HTTP::now()) > 0) { sleep(min($left, 0.25)) }
    return;
}

1;
