package Icecore::Client::HTTP;

# Requests to the daemon over one kept connection, with limits.

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
    refuse("not an address of a daemon: '$url'") unless $url =~ m,\Ahttps?://[\x21-\x7e]+\z, && $url !~ /[?#]/;
    my $token = $options{token};
    refuse('a token has visible characters of ASCII only') if defined $token && $token !~ /\A[\x21-\x7e]+\z/;
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

sub refuse {
    my ($message) = @_;
    Icecore::Client::Error->throw(kind => 'usage', message => $message);
}

sub now { return clock_gettime(CLOCK_MONOTONIC) }

# Escapes a text for an address.
sub escaped {
    my ($text) = @_;
    utf8::encode($text);
    return $text =~ s/([^A-Za-z0-9_~-])/sprintf '%%%02X', ord $1/ger;
}

# Sends one request and returns the decoded answer. %parts: query, content, type, longer (number
# of seconds that the answer may take in addition to the timeout), raw (returns the answer as
# bytes).
sub ask {
    my ($self, $method, $path, %parts) = @_;
    my $query = $parts{query} // {};
    my @pairs = map { $_ . '=' . escaped($query->{$_}) } grep { defined $query->{$_} } sort keys %$query;
    my $url   = join '?', $self->{url} . $path, @pairs ? join('&', @pairs) : ();
    my %request;
    if (defined $parts{content}) {
        $request{content} = $parts{content};
        $request{headers} = { 'Content-Type' => $parts{type} // 'application/octet-stream' };
    }
    $self->{http}->timeout($self->{timeout} + ($parts{longer} // 0));
    my $response = $self->{http}->request($method, $url, \%request);
    hurry($self->{http}{handle});
    fail($response) unless $response->{success};
    return $response->{content} if $parts{raw};
    return decoded($response->{content})
        // Icecore::Client::Error->throw(kind => 'answer', status => $response->{status}, message => "$self->{url} is not an Icecore daemon:  its answer is not JSON");
}

# Repeats a request for a while if the daemon is away: only for requests that may be repeated.
sub insist {
    my ($self, @request) = @_;
    my ($until, $pause) = (now() + $self->{patience}, 0.05);
    while (1) {
        my $answer;
        return $answer if eval { $answer = $self->ask(@request); 1 };
        my $error = $@;
        die $error unless ref $error && $error->is_passing && now() + $pause < $until;
        sleep(longer($pause, $error));
        $pause = min($pause * 2, 2);
    }
}

# Returns a longer pause, or the one that the daemon requested; different clients get different
# ones.
sub longer {
    my ($pause, $error) = @_;
    my $asked = $error->{retry_after} // 0;
    return $asked > $pause ? min($asked, 30) : $pause * (0.75 + rand 0.5);
}

# HTTP::Tiny sends head and body one after the other; by default the body waits until the server
# has acknowledged the head, which takes time.
sub hurry {
    my ($handle) = @_;
    my $socket = $handle ? $handle->{fh} : undef;
    setsockopt $socket, IPPROTO_TCP, TCP_NODELAY, 1 if $socket;
    return;
}

sub decoded {
    my ($text) = @_;
    my $value = eval { Icecore::JSON->new->utf8->decode($text) };
    return ref $value eq 'HASH' ? $value : undef;
}

sub fail {
    my ($response) = @_;
    my $status = $response->{status};
    if ($status == 599) {
        my $why  = ($response->{content} // '') =~ s/\s+\z//r;
        my $kind = $why =~ /^Size of response body exceeds/ ? 'too-long' : $why =~ /^(?:Malformed|Unsupported)|exceeds/ ? 'answer' : 'away';
        Icecore::Client::Error->throw(kind => $kind, message => $why);
    }
    my $said = (decoded($response->{content} // '') // {})->{error};
    $said = {} unless ref $said eq 'HASH';
    my %fields = map { $_ => $said->{$_} } grep { exists $said->{$_} } qw(kind message path offset errors);
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
