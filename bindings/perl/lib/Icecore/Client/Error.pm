package Icecore::Client::Error;

# What a client dies with: a kind for programs, a message for people.

use v5.30;
use warnings;

use overload '""' => sub { 'Icecore: ' . $_[0]{message} . "\n" }, bool => sub { 1 }, fallback => 1;

sub throw {
    my ($class, %fields) = @_;
    # What a server says is shown, and does nothing on a terminal.
    $fields{message} =~ s/([\p{Cc}\p{Cf}])/sprintf '\x{%02x}', ord $1/ge;
    die bless { status => 0, %fields }, $class;
}

# What the daemon said, or that it said nothing.
sub kind    { return $_[0]{kind} }
sub message { return $_[0]{message} }

# The code of the answer; 0 if there was none.
sub status { return $_[0]{status} }

# Where in the payload, at which byte of it, and all that is wrong, if it is more than one thing.
sub path   { return $_[0]{path} }
sub offset { return $_[0]{offset} }
sub errors { return @{ $_[0]{errors} // [] } }

# Whether it may go well a little later.
sub is_passing {
    my ($self) = @_;
    my $status = $self->{status};
    return $self->{kind} eq 'away' || $status == 408 || $status == 429 || $status >= 500;
}

1;
