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

my %PUSH  = map { $_ => 1 } qw(priority delay unique max_attempts after format id);
my %STORE = map { $_ => 1 } qw(key expires format id);
my %WORK  = map { $_ => 1 } qw(classes lease max wait limit drain worker log);
my %EACH  = map { $_ => 1 } qw(classes class after page problem);

sub new {
    my ($class, %options) = @_;
    my %known = (
        url      => $ENV{ICECORE_URL} || 'http://127.0.0.1:7340',
        timeout  => 30,
        patience => 10,
        longest  => 64 << 20,
        format   => 'storable:netorder',
        map { $_ => undef } qw(token token_file classes),
    );
    exists $known{$_} or Icecore::Client::HTTP::refuse("there is no option '$_'") for keys %options;
    my %all = (%known, %options);
    $all{token} //= defined $all{token_file} ? _first_line($all{token_file}) : $ENV{ICECORE_TOKEN} || undef;
    my $http = Icecore::Client::HTTP->new(map { $_ => $all{$_} } qw(url token timeout patience longest));
    return bless { http => $http, classes => $all{classes}, format => $all{format} }, $class;
}

sub _first_line {
    my ($file) = @_;
    open my $handle, '<', $file or Icecore::Client::HTTP::refuse("$file: $!");
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
    return $self->_send('/jobs', $bytes, queue => _named($queue), _known(\%PUSH, %options));
}

sub work {
    my ($self, $queue, @rest) = @_;
    my $code    = ref $rest[0] eq 'CODE' ? shift @rest : pop @rest;
    my %options = _known(\%WORK, @rest);
    my $classes = delete $options{classes};
    my $worker  = Icecore::Client::Worker->new(
        %options,
        queue => _named($queue),
        http  => $self->{http},
        thaw  => sub { $self->_thaw(@_, $classes) },
    );
    return $worker->run($code);
}

sub job    { my ($self, $id) = @_; return $self->_found("/jobs/" . _id($id)) }
sub replay { my ($self, $id) = @_; return $self->{http}->ask('POST', '/jobs/' . _id($id) . '/replay', content => '')->{id} }

# -- Objects -------------------------------------------------------------------

sub store {
    my ($self, $object, %options) = @_;
    return $self->store_bytes($self->_freeze($object, \%options), %options);
}

sub store_bytes {
    my ($self, $bytes, %options) = @_;
    return $self->_send('/objects', $bytes, _known(\%STORE, %options));
}

sub fetch {
    my ($self, $id, %options) = @_;
    my %query = (brief => 'true', bytes => 'true');
    my $said  = $options{key}
        ? $self->{http}->insist('GET', '/objects', query => { %query, key => $options{key} })->{objects}[0]
        : $self->_found('/objects/' . _id($id), %query);
    return unless $said;
    return $self->_thaw(decode_base64($said->{bytes} // ''), $said->{format}, $options{classes});
}

sub fetch_named {
    my ($self, $key, %options) = @_;
    return $self->fetch(undef, %options, key => _named($key));
}

# Calls the code with each record and its object.
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

# Returns a sub that returns the next record and its object, and nothing after the last one.
sub iterator {
    my ($self, @rest) = @_;
    my %options = _known(\%EACH, @rest);
    my %query   = (brief => 'true', bytes => 'true', limit => $options{page} // 100, class => $options{class});
    $query{problem} = $options{problem} ? 'true' : 'false' if defined $options{problem};
    my ($after, @page) = ($options{after} // 0);
    return sub {
        while (!@page && defined $after) {
            my $answer = $self->{http}->insist('GET', '/objects', query => { %query, after => $after });
            @page = grep { ref eq 'HASH' } @{ ref $answer->{objects} eq 'ARRAY' ? $answer->{objects} : [] };
            my $next = $answer->{next};
            # Each page begins after the previous one.
            Icecore::Client::Error->throw(kind => 'answer', message => 'the list does not end')
                if defined $next && !($next =~ /\A[0-9]{1,19}\z/ && $next > $after);
            $after = $next;
        }
        my $said = shift @page or return;
        my $bytes  = decode_base64(delete $said->{bytes} // '');
        my $record = bless $said, 'Icecore::Client::Record';
        my $object;
        if (!defined $record->{problem} && !eval { $object = $self->_thaw($bytes, $record->{format}, $options{classes}); 1 }) {
            $record->{problem} = Icecore::Client::Worker::told($@);
        }
        $record->{bytes} = $bytes;
        return ($record, $object);
    };
}

# Returns whether the object existed.
sub remove {
    my ($self, $id) = @_;
    return 1 if eval { $self->{http}->ask('DELETE', '/objects/' . _id($id)); 1 };
    die $@ unless ref $@ && $@->status == 404;
    return 0;
}

# -- Shared functions ----------------------------------------------------------

# Sends data that has an id from now on: a repeated request has the same one.
sub _send {
    my ($self, $path, $bytes, %query) = @_;
    my $id   = $query{id} //= _uuid();
    my $type = ($query{format} // '') =~ /\Ajson\z/ ? 'application/json' : 'application/octet-stream';
    my $said = $self->{http}->insist('POST', $path, query => \%query, content => $bytes, type => $type)->{id};
    return $said if defined $said && !ref $said;
    Icecore::Client::Error->throw(kind => 'answer', message => 'the answer has no id');
}

# Returns the answer, or undef if there is nothing with this name.
sub _found {
    my ($self, $path, %query) = @_;
    my $answer;
    return $answer if eval { $answer = $self->{http}->insist('GET', $path, query => \%query); 1 };
    die $@ unless ref $@ && $@->status == 404;
    return;
}

sub _freeze {
    my ($self, $value, $options) = @_;
    my $format = $options->{format} // $self->{format};
    $options->{format} = $format =~ s{:[^/]*}{}gr;
    if ($format =~ /\Astorable\b/ && !ref $value) {
        Icecore::Client::HTTP::refuse("Storable freezes references only; format => 'sereal' or 'json' takes other values");
    }
    return Icecore::encode($value, $format, strict => 1);
}

sub _thaw {
    my ($self, $bytes, $format, $classes) = @_;
    $classes //= $self->{classes};
    return Icecore::decode($bytes, defined $format ? (format => $format) : (), defined $classes ? (classes => $classes) : ());
}

sub _known {
    my ($known, %options) = @_;
    $known->{$_} or Icecore::Client::HTTP::refuse("there is no option '$_'") for keys %options;
    return %options;
}

sub _named {
    my ($name) = @_;
    Icecore::Client::HTTP::refuse('a name is needed') unless defined $name && length $name;
    return $name;
}

sub _id {
    my ($id) = @_;
    return Icecore::Client::HTTP::escaped(_named($id));
}

# Returns a UUID of version 7: ids sort by the time of their creation.
sub _uuid {
    open my $random, '<:raw', '/dev/urandom' or Icecore::Client::HTTP::refuse("/dev/urandom: $!");
    read($random, my $bytes, 10) == 10 or Icecore::Client::HTTP::refuse("/dev/urandom: $!");
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
    # The reason why there is no object.
    sub problem    { return $_[0]{problem} }
}

1;
