package Icecore::Client::HTTP;

# Requests to the daemon, over one connection that is kept open.

use v5.30;
use warnings;

use HTTP::Tiny ();
use List::Util qw(min);
use Socket     qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(clock_gettime sleep CLOCK_MONOTONIC);

use Icecore::JSON ();
use Icecore::Client::Error;

sub new {
    my ($class, %options) = @_;
    my $url = $options{url} =~ s,/+\z,,r;
    croak_usage("not an address of a daemon: '$url'") unless $url =~ m,\Ahttps?://[\x21-\x7e]+\z, && $url !~ /[?#]/;
    my $token = $options{token};
    croak_usage('a token has visible characters of ASCII only') if defined $token && $token !~ /\A[\x21-\x7e]+\z/;
    my $http = HTTP::Tiny->new(
        agent           => 'icecore-perl',
        timeout         => $options{timeout},
        max_size        => $options{longest},
        max_redirect    => 0,
        keep_alive      => 1,
        verify_SSL      => 1,
        default_headers => { defined $token ? (Authorization => "Bearer $token") : () },
    );
    return bless { url => $url, http => $http, timeout => $options{timeout}, patience => $options{patience} }, $class;
}

# Dies of a mistake of the caller.
sub croak_usage {
    my ($message) = @_;
    Icecore::Client::Error->throw(kind => 'usage', message => $message);
}

sub now { return clock_gettime(CLOCK_MONOTONIC) }

# Escapes a text for a URL.
sub escape {
    my ($text) = @_;
    utf8::encode($text);
    return $text =~ s/([^A-Za-z0-9_~-])/sprintf '%%%02X', ord $1/ger;
}

# Sends one request and returns the decoded answer. %parts may have: query, content, type, extra_time
# (the number of seconds that the answer may take in addition to the timeout) and raw (true returns the
# answer as bytes).
sub request {
    my ($self, $method, $path, %parts) = @_;
    my $query = $parts{query} // {};
    my @pairs = map { $_ . '=' . escape($query->{$_}) } grep { defined $query->{$_} } sort keys %$query;
    my $url   = join '?', $self->{url} . $path, @pairs ? join('&', @pairs) : ();
    my %request;
    if (defined $parts{content}) {
        $request{content} = $parts{content};
        $request{headers} = { 'Content-Type' => $parts{type} // 'application/octet-stream' };
    }
    $self->{http}->timeout($self->{timeout} + ($parts{extra_time} // 0));
    my $response = $self->{http}->request($method, $url, \%request);
    disable_delay($self->{http}{handle});
    throw_error($response) unless $response->{success};
    return $response->{content} if $parts{raw};
    return decode_answer($response->{content})
        // Icecore::Client::Error->throw(
            kind    => 'answer',
            status  => $response->{status},
            message => "$self->{url} is not an Icecore daemon: its answer is not JSON",
        );
}

# Sends a request, and repeats it for a while if the daemon does not answer. Only for requests that may
# be repeated.
sub request_with_retries {
    my ($self, @request) = @_;
    my ($deadline, $pause) = (now() + $self->{patience}, 0.05);
    while (1) {
        my $answer;
        return $answer if eval { $answer = $self->request(@request); 1 };
        my $error = $@;
        die $error unless ref $error && $error->is_passing && now() + $pause < $deadline;
        sleep(next_pause($pause, $error));
        $pause = min($pause * 2, 2);
    }
}

# Returns the pause before the next attempt, in seconds. If the daemon requested a longer pause than
# `$pause`, returns that pause. Otherwise returns `$pause` with a random part, so that not all clients
# send their next request at the same time.
sub next_pause {
    my ($pause, $error) = @_;
    my $requested = $error->{retry_after} // 0;
    return $requested > $pause ? min($requested, 30) : $pause * (0.75 + rand 0.5);
}

# HTTP::Tiny sends the head and the body of a request one after the other. Without this option of TCP, the
# body waits until the server has acknowledged the head.
sub disable_delay {
    my ($handle) = @_;
    my $socket = $handle ? $handle->{fh} : undef;
    setsockopt $socket, IPPROTO_TCP, TCP_NODELAY, 1 if $socket;
    return;
}

# Returns the hash in an answer; undef if the answer is not an object in JSON.
sub decode_answer {
    my ($text) = @_;
    my $value = eval { Icecore::JSON->new->utf8->decode($text) };
    return ref $value eq 'HASH' ? $value : undef;
}

# Dies of the error that an answer reports.
sub throw_error {
    my ($response) = @_;
    my $status = $response->{status};
    # HTTP::Tiny reports its own errors with the status 599, and the message is the content.
    if ($status == 599) {
        my $message = ($response->{content} // '') =~ s/\s+\z//r;
        my $kind
            = $message =~ /^Size of response body exceeds/         ? 'too-long'
            : $message =~ /^(?:Malformed|Unsupported)|exceeds/     ? 'answer'
            :                                                        'away';
        Icecore::Client::Error->throw(kind => $kind, message => $message);
    }
    my $details = (decode_answer($response->{content} // '') // {})->{error};
    $details = {} unless ref $details eq 'HASH';
    my %fields = map { $_ => $details->{$_} } grep { exists $details->{$_} } qw(kind message path offset errors);
    my $after  = $response->{headers}{'retry-after'};
    $fields{retry_after} = $after if defined $after && !ref $after && $after =~ /\A[0-9]{1,4}\z/;
    $fields{errors} = [] unless ref $fields{errors} eq 'ARRAY';
    Icecore::Client::Error->throw(
        %fields,
        status  => $status,
        kind    => ref $fields{kind}    || !defined $fields{kind}    ? 'answer'          : $fields{kind},
        message => ref $fields{message} || !defined $fields{message} ? "answer $status" : $fields{message},
    );
}

1;
