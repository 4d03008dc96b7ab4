package Icecore::Client::Error;

# The exceptions of a client: a kind for programs, a message for people.

use v5.30;
use warnings;

use overload '""' => sub { 'Icecore: ' . $_[0]{message} . "\n" }, bool => sub { 1 }, fallback => 1;

sub throw {
    my ($class, %fields) = @_;
    # Text from a server is shown, but must not control a terminal.
    $fields{message} =~ s/([\p{Cc}\p{Cf}])/sprintf '\x{%02x}', ord $1/ge;
    die bless { status => 0, %fields }, $class;
}

# The daemon's error, or the information that it did not answer.
sub kind    { return $_[0]{kind} }
sub message { return $_[0]{message} }

# The status code of the answer; 0 if there was none.
sub status { return $_[0]{status} }

# The path and the byte offset in the payload, and all errors if there are several.
sub path   { return $_[0]{path} }
sub offset { return $_[0]{offset} }
sub errors { return @{ $_[0]{errors} // [] } }

# Whether the request may succeed a little later.
sub is_passing {
    my ($self) = @_;
    my $status = $self->{status};
    return $self->{kind} eq 'away' || $status == 408 || $status == 429 || $status >= 500;
}

1;
