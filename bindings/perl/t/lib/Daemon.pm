package Daemon;

# Starts `icecore serve` with a new SQLite database, or a server with arbitrary answers. Both
# stop at the end of the test.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp     ();
use IO::Socket::INET;
use POSIX ();

# Returns the path of the command, if it was built.
sub command {
    my $root   = abs_path(dirname(__FILE__) . '/../../../..') // return;
    my $target = $ENV{CARGO_TARGET_DIR} // "$root/target";
    my ($found) = grep { length($_ // "") && -x } $ENV{ICECORE_COMMAND}, "$target/debug/icecore", "$target/release/icecore";
    return $found;
}

sub start {
    my ($class, %options) = @_;
    my $folder = File::Temp->newdir;
    my $self   = bless { folder => $folder, db => "sqlite:$folder/icecore.db", token => $options{token}, listen => '127.0.0.1:0' }, $class;
    $self->start_process;
    return $self;
}

# The daemon accepts connections when this returns.
sub start_process {
    my ($self) = @_;
    my $output = $self->start_after(0);
    my $line   = <$output> // '';
    ($self->{url}) = $line =~ m,(http://[0-9.:]+[0-9]), or die "the daemon did not start: $line";
    ($self->{listen}) = $self->{url} =~ m,//(.*),;
    $self->{output} = $output;
    return;
}

# Starts the daemon after this many seconds; returns its output.
sub start_after {
    my ($self, $seconds) = @_;
    pipe my $read, my $write or die $!;
    my $child = fork // die $!;
    if (!$child) {
        close $read;
        open STDERR, '>&', $write or die $!;
        open STDOUT, '>&', $write or die $!;
        delete @ENV{qw(ICECORE_TOKEN ICECORE_DB)};
        $ENV{ICECORE_TOKEN} = $self->{token} if defined $self->{token};
        select undef, undef, undef, $seconds;
        exec { command() } 'icecore', 'serve', '--db', $self->{db}, '--listen', $self->{listen} or POSIX::_exit(127);
    }
    close $write;
    $self->{child} = $child;
    return $self->{output} = $read;
}

sub url { return $_[0]{url} }

sub stop {
    my ($self, $signal) = @_;
    my $child = delete $self->{child} // return;
    kill $signal // 'KILL', $child;
    waitpid $child, 0;
    return;
}

sub DESTROY { local ($?, $@, $!); $_[0]->stop; return }

# Starts a server that sends this answer to each request and closes the connection. If the answer
# is a sub, it is called with the connection.
sub start_fake_server {
    my ($class, $answer) = @_;
    my $server = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1', ReuseAddr => 1) or die $!;
    my $child  = fork // die $!;
    if (!$child) {
        local $SIG{PIPE} = 'IGNORE';
        while (my $client = $server->accept) {
            my $head = '';
            while ($head !~ /\r\n\r\n/ && sysread $client, $head, 4096, length $head) { }
            ref $answer ? $answer->($client, $head) : syswrite $client, $answer;
            # The rest of the request is read, so that the answer is not lost.
            shutdown $client, 1;
            1 while sysread $client, my $rest, 65536;
            close $client;
        }
        POSIX::_exit(0);
    }
    return bless { child => $child, url => 'http://127.0.0.1:' . $server->sockport }, $class;
}

1;
