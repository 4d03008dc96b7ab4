package Icecore::Client;
use v5.30;
use warnings;

our $VERSION = '0.1.0';

use MIME::Base64 qw(decode_base64);
use Time::HiRes ();

use Icecore ();
use Icecore::JSON ();
use Icecore::Client::Error;
use Icecore::Client::HTTP;
use Icecore::Client::Worker;

# The options of the methods.
my %PUSH_OPTIONS  = map { $_ => 1 } qw(priority delay unique max_attempts after format id);
my %STORE_OPTIONS = map { $_ => 1 } qw(key expires format id);
my %WORK_OPTIONS  = map { $_ => 1 } qw(classes lease max wait limit drain worker log);
my %EACH_OPTIONS  = map { $_ => 1 } qw(classes class after page problem);

sub new {
    my ($class, %options) = @_;
    my %defaults = (
        url      => $ENV{ICECORE_URL} || 'http://127.0.0.1:7340',
        timeout  => 30,
        patience => 10,
        longest  => 64 << 20,
        format   => 'storable:netorder',
        map { $_ => undef } qw(token token_file classes),
    );
    exists $defaults{$_} or Icecore::Client::HTTP::croak_usage("there is no option '$_'") for keys %options;
    my %settings = (%defaults, %options);
    $settings{token}
        //= defined $settings{token_file} ? _first_line($settings{token_file}) : $ENV{ICECORE_TOKEN} || undef;
    my $http = Icecore::Client::HTTP->new(map { $_ => $settings{$_} } qw(url token timeout patience longest));
    return bless { http => $http, classes => $settings{classes}, format => $settings{format} }, $class;
}

# Returns the first line of a file, without blanks at its end.
sub _first_line {
    my ($file) = @_;
    open my $handle, '<', $file or Icecore::Client::HTTP::croak_usage("$file: $!");
    my $line = <$handle> // '';
    return $line =~ s/\s+\z//r;
}

# -- Jobs ----------------------------------------------------------------------

sub push {
    my ($self, $queue, $value, %options) = @_;
    return $self->push_bytes($queue, $self->_freeze($value, \%options), %options);
}

sub push_bytes {
    my ($self, $queue, $bytes, %options) = @_;
    return $self->_send_new(
        '/jobs', $bytes,
        queue => _require_name($queue),
        _check_options(\%PUSH_OPTIONS, %options),
    );
}

sub work {
    my ($self, $queue, @rest) = @_;
    my $code    = ref $rest[0] eq 'CODE' ? shift @rest : pop @rest;
    my %options = _check_options(\%WORK_OPTIONS, @rest);
    my $classes = delete $options{classes};
    my $worker  = Icecore::Client::Worker->new(
        %options,
        queue => _require_name($queue),
        http  => $self->{http},
        thaw  => sub { $self->_thaw(@_, $classes) },
    );
    return $worker->run($code);
}

sub job {
    my ($self, $id) = @_;
    return $self->_find('/jobs/' . _escaped_id($id));
}

sub replay {
    my ($self, $id) = @_;
    return $self->{http}->request('POST', '/jobs/' . _escaped_id($id) . '/replay', content => '')->{id};
}

# -- Objects -------------------------------------------------------------------

sub store {
    my ($self, $object, %options) = @_;
    return $self->store_bytes($self->_freeze($object, \%options), %options);
}

sub store_bytes {
    my ($self, $bytes, %options) = @_;
    return $self->_send_new('/objects', $bytes, _check_options(\%STORE_OPTIONS, %options));
}

sub fetch {
    my ($self, $id, %options) = @_;
    my %query = (brief => 'true', bytes => 'true');
    my $record;
    if ($options{key}) {
        my %named = (%query, key => $options{key});
        $record = $self->{http}->request_with_retries('GET', '/objects', query => \%named)->{objects}[0];
    }
    else {
        $record = $self->_find('/objects/' . _escaped_id($id), %query);
    }
    return unless $record;
    return $self->_thaw(decode_base64($record->{bytes} // ''), $record->{format}, $options{classes});
}

sub fetch_named {
    my ($self, $key, %options) = @_;
    return $self->fetch(undef, %options, key => _require_name($key));
}

# Calls the code with each record and its object. Returns the number of records.
sub each {
    my ($self, @rest) = @_;
    my $code = ref $rest[0] eq 'CODE' ? shift @rest : pop @rest;
    my $next = $self->iterator(@rest);
    my $count = 0;
    while (my ($record, $object) = $next->()) {
        $code->($record, $object);
        $count++;
    }
    return $count;
}

# Returns a sub. Each call of the sub returns the next record and its object. After the last record it
# returns an empty list.
sub iterator {
    my ($self, @rest) = @_;
    my %options = _check_options(\%EACH_OPTIONS, @rest);
    my %query   = (brief => 'true', bytes => 'true', limit => $options{page} // 100, class => $options{class});
    $query{problem} = $options{problem} ? 'true' : 'false' if defined $options{problem};
    my ($after, @page) = ($options{after} // 0);
    return sub {
        while (!@page && defined $after) {
            my $answer = $self->{http}->request_with_retries('GET', '/objects', query => { %query, after => $after });
            @page = grep { ref eq 'HASH' } @{ ref $answer->{objects} eq 'ARRAY' ? $answer->{objects} : [] };
            my $next = $answer->{next};
            # Each page must begin after the previous one, or the list would never end.
            Icecore::Client::Error->throw(kind => 'answer', message => 'the list does not end')
                if defined $next && !($next =~ /\A[0-9]{1,19}\z/ && $next > $after);
            $after = $next;
        }
        my $fields = shift @page or return;
        my $bytes  = decode_base64(delete $fields->{bytes} // '');
        my $record = bless $fields, 'Icecore::Client::Record';
        my $object;
        if (!defined $record->{problem}
            && !eval { $object = $self->_thaw($bytes, $record->{format}, $options{classes}); 1 })
        {
            $record->{problem} = Icecore::Client::Worker::error_text($@);
        }
        $record->{bytes} = $bytes;
        return ($record, $object);
    };
}

# Removes an object. Returns true if it existed.
sub remove {
    my ($self, $id) = @_;
    return 1 if eval { $self->{http}->request('DELETE', '/objects/' . _escaped_id($id)); 1 };
    die $@ unless ref $@ && $@->status == 404;
    return 0;
}

# -- Shared functions ----------------------------------------------------------

# Sends new data, and returns its id. The client chooses the id. So if the daemon has received a request
# and the client repeats it, the repetition has no effect.
sub _send_new {
    my ($self, $path, $bytes, %query) = @_;
    $query{id} //= _uuid();
    my $type = ($query{format} // '') =~ /\Ajson\z/ ? 'application/json' : 'application/octet-stream';
    my $answer
        = $self->{http}->request_with_retries('POST', $path, query => \%query, content => $bytes, type => $type);
    my $stored_id = $answer->{id};
    return $stored_id if defined $stored_id && !ref $stored_id;
    Icecore::Client::Error->throw(kind => 'answer', message => 'the answer has no id');
}

# Returns the answer to a request for one job or object. Returns an empty list if it does not exist.
sub _find {
    my ($self, $path, %query) = @_;
    my $answer;
    return $answer if eval { $answer = $self->{http}->request_with_retries('GET', $path, query => \%query); 1 };
    die $@ unless ref $@ && $@->status == 404;
    return;
}

# Freezes a value, and stores the name of its format in the options, without the format's own options.
sub _freeze {
    my ($self, $value, $options) = @_;
    my $format = $options->{format} // $self->{format};
    $options->{format} = $format =~ s{:[^/]*}{}gr;
    if ($format =~ /\Astorable\b/ && !ref $value) {
        Icecore::Client::HTTP::croak_usage(
            "Storable freezes references only; format => 'sereal' or 'json' takes other values");
    }
    return Icecore::encode($value, $format, strict => 1);
}

# Thaws bytes; `$classes` overrides the option of the client.
sub _thaw {
    my ($self, $bytes, $format, $classes) = @_;
    $classes //= $self->{classes};
    return Icecore::decode(
        $bytes,
        defined $format  ? (format => $format)   : (),
        defined $classes ? (classes => $classes) : (),
    );
}

# Dies if an option is unknown. Returns the options.
sub _check_options {
    my ($allowed, %options) = @_;
    $allowed->{$_} or Icecore::Client::HTTP::croak_usage("there is no option '$_'") for keys %options;
    return %options;
}

# Dies if a name is missing. Returns the name.
sub _require_name {
    my ($name) = @_;
    Icecore::Client::HTTP::croak_usage('a name is needed') unless defined $name && length $name;
    return $name;
}

sub _escaped_id {
    my ($id) = @_;
    return Icecore::Client::HTTP::escape(_require_name($id));
}

# Returns a UUID of version 7. It begins with the time in milliseconds, so ids are in the order of their
# creation. The digit 12 is the version. The two upper bits of the digit 16 are the variant, 10.
sub _uuid {
    open my $random, '<:raw', '/dev/urandom' or Icecore::Client::HTTP::croak_usage("/dev/urandom: $!");
    read($random, my $bytes, 10) == 10 or Icecore::Client::HTTP::croak_usage("/dev/urandom: $!");
    my $hex = sprintf('%012x', Time::HiRes::time() * 1000) . unpack 'H*', $bytes;
    substr($hex, 12, 1) = '7';
    substr($hex, 16, 1) = sprintf '%x', 8 | hex(substr $hex, 16, 1) & 3;
    return join '-', unpack 'A8 A4 A4 A4 A12', $hex;
}

# Information about an object.
package Icecore::Client::Record {
    sub id         { return $_[0]{id} }
    sub sequence   { return $_[0]{sequence} }
    sub key        { return $_[0]{key} }
    sub stored_at  { return $_[0]{stored_at} }
    sub expires_at { return $_[0]{expires_at} }
    sub format     { return $_[0]{format} }
    sub class      { return $_[0]{class} }
    sub size       { return $_[0]{size} }
    sub checksum   { return $_[0]{checksum} }
    sub bytes      { return $_[0]{bytes} }
    # The reason why the object could not be built; undef if it was built.
    sub problem    { return $_[0]{problem} }
}

1;
