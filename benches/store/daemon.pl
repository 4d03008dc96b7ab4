#!/usr/bin/env perl
# The daemon of "Faster way to serialize a Perl hash", done well: POST /jobs takes a job as
# JSON, checks it, and inserts it with a human-readable copy by Data::Dumper, one commit per
# job. It answers 201 and {"id":UUID}.
#
#   ICECORE_LOAD_DB=sqlite:FILE benches/store/daemon.pl --port N --mode loop|fork [--workers N]
#
# loop: one process with an event loop. fork: a pool of processes, created in advance, each for
# one connection at a time.

use v5.36;
use FindBin;
use lib "$FindBin::Bin/lib";
use Errno qw(EAGAIN EINTR);
use Fcntl qw(:flock);
use File::Temp ();
use Getopt::Long;
use IO::Socket::INET;
use Load::Jobs;
use Socket qw(IPPROTO_TCP TCP_NODELAY);

GetOptions('port=i' => \my $port, 'mode=s' => \(my $mode = 'loop'), 'workers=i' => \(my $workers = 32))
    or die "usage: daemon.pl --port N --mode loop|fork [--workers N]\n";
$SIG{PIPE} = 'IGNORE';
my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 1024, ReuseAddr => 1)
    or die "port $port: $@\n";

my $jobs;
# If several processes write to SQLite, they wait here for their turn: SQLite itself would sleep
# and retry.
my $turn;
if    ($mode eq 'loop') { serve_all() }
elsif ($mode eq 'fork') { serve_by_processes() }
else                    { die "there is no mode $mode: loop or fork\n" }

# -- One process ----------------------------------------------------------------

# EV uses epoll: its work does not grow with idle connections.
sub serve_all () {
    eval { require EV; 1 } or die "EV is missing: install libev-perl\n";
    $jobs = Load::Jobs->new;
    $server->blocking(0);
    my %connections;
    my $accepts = EV::io($server, EV::READ(), sub {
        while (my $client = $server->accept) {
            prepare($client);
            $client->blocking(0);
            my $buffer = '';
            $connections{fileno $client} = [$client, EV::io($client, EV::READ(), sub ($watcher, $) {
                my $read = sysread $client, $buffer, 1 << 16, length $buffer;
                return if !defined $read && ($! == EAGAIN || $! == EINTR);
                return if $read && answer_all($client, \$buffer);
                undef $watcher;
                delete $connections{fileno $client};
                close $client;
            })];
        }
    });
    EV::run();
}

# -- A process for each connection ----------------------------------------------

sub serve_by_processes () {
    # The table exists before the processes start.
    Load::Jobs->new->{database}->disconnect;
    if ($ENV{ICECORE_LOAD_DB} =~ /\Asqlite:/) {
        $turn = File::Temp->new;
    }
    my $parent = $$;
    my %children;
    $SIG{TERM} = $SIG{INT} = sub { kill TERM => keys %children; exit 0 };
    for (1 .. $workers) {
        my $child = fork // die "fork: $!\n";
        if (!$child) {
            $SIG{TERM} = $SIG{INT} = 'DEFAULT';
            serve_in_turn();
        }
        $children{$child} = 1;
    }
    my $ended = wait;
    kill TERM => keys %children;
    die "the process $ended ended\n";
}

sub serve_in_turn () {
    # A lock belongs to the process that opened the file.
    open $turn, '>', $turn->filename or die "the file of the turns: $!\n" if $turn;
    $jobs = Load::Jobs->new;
    while (1) {
        my $client = $server->accept or next;
        prepare($client);
        my $buffer = '';
        while (1) {
            my $read = sysread $client, $buffer, 1 << 16, length $buffer;
            next if !defined $read && $! == EINTR;
            last if !$read || !answer_all($client, \$buffer);
        }
        close $client;
    }
}

# -- HTTP ---------------------------------------------------------------------------

sub prepare ($client) {
    setsockopt $client, IPPROTO_TCP, TCP_NODELAY, 1;
    $client->autoflush(1);
}

# Answers all complete requests; false if the connection must be closed.
sub answer_all ($client, $buffer) {
    while ((my $end = index $$buffer, "\r\n\r\n") >= 0) {
        my $head = substr $$buffer, 0, $end;
        my $length = $head =~ /^content-length:\s*([0-9]{1,8})\s*$/mi ? $1 : 0;
        return 1 if length $$buffer < $end + 4 + $length;
        my $body = substr $$buffer, $end + 4, $length;
        substr $$buffer, 0, $end + 4 + $length, '';
        my ($code, $answer) = answer($head, $body);
        my $text = "HTTP/1.1 $code\r\nContent-Type: application/json\r\nContent-Length: "
            . length($answer) . "\r\n\r\n" . $answer;
        # An answer is far smaller than the socket's buffer.
        my $written = syswrite $client, $text;
        return 0 unless defined $written && $written == length $text;
    }
    return length $$buffer < 1 << 20;
}

sub answer ($head, $body) {
    return ('200 OK', '{}') if $head =~ m{\AGET /healthz };
    return ('404 Not Found', '{"error":"there is POST /jobs"}') unless $head =~ m{\APOST /jobs[ ?]};
    flock $turn, LOCK_EX if $turn;
    my ($id, $wrong) = eval { $jobs->store($body) };
    my $failed = $@;
    flock $turn, LOCK_UN if $turn;
    return ('201 Created', qq({"id":"$id"})) if defined $id;
    warn $failed if $failed;
    return $failed ? ('500 Internal Server Error', '{"error":"the job could not be stored"}')
        : ('400 Bad Request', JSON::XS::encode_json({error => $wrong}));
}
