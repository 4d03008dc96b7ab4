package Icecore::Client::Error;

# The exceptions of a client. They have a kind for programs and a message for people.

use v5.30;
use warnings;

use overload '""' => sub { 'Icecore: ' . $_[0]{message} . "\n" }, bool => sub { 1 }, fallback => 1;

sub throw {
    my ($class, %fields) = @_;
    # Control characters are escaped, because the text comes from a server and may be shown in a terminal.
    $fields{message} =~ s/([\p{Cc}\p{Cf}])/sprintf '\x{%02x}', ord $1/ge;
    die bless { status => 0, %fields }, $class;
}

# The kind of the error. The daemon has kinds of its own; the client adds some, such as `away` if the daemon
# did not answer.
sub kind    { return $_[0]{kind} }
sub message { return $_[0]{message} }

# The status code of the answer; 0 without an answer.
sub status { return $_[0]{status} }

# The path and the byte offset of the error in the payload, and the list of all errors if there are several.
sub path   { return $_[0]{path} }
sub offset { return $_[0]{offset} }
sub errors { return @{ $_[0]{errors} // [] } }

# Returns true if the request may succeed a little later.
sub is_passing {
    my ($self) = @_;
    my $status = $self->{status};
    return $self->{kind} eq 'away' || $status == 408 || $status == 429 || $status >= 500;
}

1;
