package Icecore::Client::Worker;

# Runs the jobs of a queue, one after the other, until it is stopped.

use v5.30;
use warnings;

use List::Util qw(min);
use MIME::Base64 qw(decode_base64);
use Sys::Hostname qw(hostname);
use Time::HiRes qw(sleep);

use Icecore ();
use Icecore::Client::HTTP;
use Icecore::Client::Job;

# The number of characters of an error that the daemon stores.
my $MAX_ERROR_LENGTH = 4_000;

# The number of jobs without the option `limit`. This power is too large for a float, so it is infinity.
my $NO_LIMIT = 9**9**9;

sub new {
    my ($class, %options) = @_;
    my $self = bless { lease => 60, max => 1, wait => 5, log => sub { warn "$_[0]\n" }, %options }, $class;
    $self->{worker} //= hostname() . ":$$";
    return $self;
}

# Calls the code for each job. Returns the number of jobs.
sub run {
    my ($self, $code) = @_;
    # After a signal the current job is finished, and no other one is begun.
    local $SIG{INT}  = sub { $self->{stop} = 1 };
    local $SIG{TERM} = $SIG{INT};
    my ($worked, $pause) = (0, 0.1);
    while (!$self->{stop} && $worked < ($self->{limit} // $NO_LIMIT)) {
        my $jobs;
        if (!eval { $jobs = $self->claim_jobs($worked); 1 }) {
            my $error = $@;
            die $error unless ref $error && $error->is_passing;
            $self->{log}->("waiting for the daemon: " . $error->message) if $pause == 0.1;
            $self->sleep_unless_stopped(Icecore::Client::HTTP::next_pause($pause, $error));
            $pause = min($pause * 2, 30);
            next;
        }
        $pause = 0.1;
        last if !@$jobs && $self->{drain};
        for my $job (@$jobs) {
            if ($self->{stop}) { $self->give_back($job); next }
            $self->run_job($job, $code);
            $worked++;
        }
    }
    return $worked;
}

# Takes jobs, and returns a list of them. `$worked` is the number of jobs so far.
sub claim_jobs {
    my ($self, $worked) = @_;
    my $max   = min($self->{max}, ($self->{limit} // $NO_LIMIT) - $worked);
    my $wait  = $self->{drain} ? 0 : $self->{wait};
    my %query = (
        worker => $self->{worker},
        lease  => $self->{lease},
        max    => $max,
        wait   => $wait,
        brief  => 'true',
        bytes  => 'true',
    );
    my $path         = '/queues/' . Icecore::Client::HTTP::escape($self->{queue}) . '/claim';
    my $requested_at = Icecore::Client::HTTP::now();
    my $answer       = $self->{http}->request('POST', $path, query => \%query, extra_time => $wait, content => '');
    my $jobs         = $answer->{jobs};
    return [ map { $self->new_job($_, $requested_at) } grep { ref eq 'HASH' } ref $jobs eq 'ARRAY' ? @$jobs : () ];
}

# Returns the job for an answer of the daemon. The lease began at `$requested_at` or later. So a lease that
# is counted from `$requested_at` never ends later than the daemon's.
sub new_job {
    my ($self, $fields, $requested_at) = @_;
    my $id = $fields->{id};
    Icecore::Client::Error->throw(kind => 'answer', message => 'a job without an id')
        unless defined $id && $id =~ /\A[0-9a-f-]{36}\z/;
    my %fields = map { $_ => $fields->{$_} } qw(id queue attempt token format checksum lease_until);
    return bless {
        %fields,
        bytes => decode_base64($fields->{bytes} // ''),
        http  => $self->{http},
        lease => $self->{lease},
        ends  => $requested_at + $self->{lease},
    }, 'Icecore::Client::Job';
}

# Calls the code for a job, and reports the result.
sub run_job {
    my ($self, $job, $code) = @_;
    # If other jobs took too long, another worker may have this one.
    return $self->{log}->("job $job->{id}: its lease ended before it was begun") if $job->left <= 0;
    if (!eval { $job->{value} = $self->{thaw}->($job->{bytes}, $job->{format}); 1 }) {
        return $self->report_result($job, 'nack', error => error_text($@));
    }
    my $result;
    if (!eval { $result = $code->($job); 1 }) {
        return $self->report_result($job, 'nack', error => error_text($@));
    }
    # Only a result that JSON can express is reported.
    my $can_encode = eval { Icecore::JSON->new->utf8->encode({ result => $result }); 1 };
    my %result     = $can_encode && defined $result ? (result => $result) : ();
    my $refused    = $self->report_result($job, 'ack', %result) or return;
    $self->report_result($job, 'nack', error => 'the result was refused: ' . $refused->message);
    return;
}

# Returns the text of an exception, as it is reported.
sub error_text {
    my ($error) = @_;
    my $text = eval { "$error" } // 'an error without words';
    return substr $text =~ s/\s+\z//r, 0, $MAX_ERROR_LENGTH;
}

# Gives back a job that was not begun.
sub give_back {
    my ($self, $job) = @_;
    my %details = (error => 'the worker stopped', delay => 0);
    eval { $self->{http}->request('POST', "/jobs/$job->{id}/nack", $job->_token(%details)) };
    return;
}

# Reports that a job is done (`ack`) or has failed (`nack`). Repeats the report until the daemon has
# received it or the lease is over. Returns an error if the daemon refuses the result.
sub report_result {
    my ($self, $job, $action, %details) = @_;
    my ($pause, $tries) = (0.05, 0);
    while (1) {
        return if eval { $self->{http}->request('POST', "/jobs/$job->{id}/$action", $job->_token(%details)); 1 };
        my $error = $@;
        die $error unless ref $error;
        if (!$error->is_passing) {
            return $error if exists $details{result} && ($error->status == 400 || $error->status == 413);
            # After the first attempt, an ended lease means that an earlier attempt was successful, and only
            # its answer was lost.
            $self->{log}->("job $job->{id}: $action: " . $error->message) if $tries == 0 || $error->kind ne 'lease';
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
sub sleep_unless_stopped {
    my ($self, $seconds) = @_;
    my $deadline = Icecore::Client::HTTP::now() + $seconds;
    while (!$self->{stop} && (my $remaining = $deadline - Icecore::Client::HTTP::now()) > 0) {
        sleep(min($remaining, 0.25));
    }
    return;
}

1;
