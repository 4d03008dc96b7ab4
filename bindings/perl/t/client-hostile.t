# The client with servers that send invalid answers.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Both;
BEGIN { ours_only() }
use Daemon;
use Icecore::Client;

sub ok_response { my ($body) = @_; return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " . length($body) . "\r\n\r\n$body" }

sub endless_answer {
    my ($head, $piece) = @_;
    return sub { my ($client) = @_; syswrite $client, $head; for (1 .. 100_000) { syswrite $client, $piece or last } };
}

my $calls = [
    push   => sub { $_[0]->push('q', [1]) },
    work   => sub { $_[0]->work('q', sub { fail('a block is called') }, drain => 1) },
    fetch  => sub { $_[0]->fetch('01990f3a-7b11-7c0e-a1b2-0c4d5e6f7a8b') },
    each   => sub { $_[0]->each(sub { fail('a block is called') }) },
    remove => sub { $_[0]->remove('01990f3a-7b11-7c0e-a1b2-0c4d5e6f7a8b') },
];

# The answer, and the permitted kinds of errors.
my @nonsense = (
    'nothing'             => ''                                                             => 'away',
    'no HTTP'             => "SSH-2.0-OpenSSH\r\n\r\n"                                      => 'answer',
    'bytes'               => join('', map chr(rand 256), 1 .. 1000) . "\r\n\r\n"            => 'answer|away',
    'half a head'         => "HTTP/1.1 200 OK\r\nContent-Le"                                => 'away',
    'half a body'         => "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"id\":"       => 'away',
    'a page'              => "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>"           => 'answer',
    'a list'              => ok_response('[]')                                                  => 'answer',
    'a text'              => ok_response('"x"')                                                 => 'answer',
    'a deep list'         => ok_response('{"id":' . '[' x 1_000_000)                            => 'answer',
    'a redirection'       => "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n" => 'answer',
    'an error in HTML'    => "HTTP/1.1 404 Not Found\r\nContent-Length: 6\r\n\r\n<html>"    => 'answer',
    'an error of lists'   => "HTTP/1.1 400 Bad Request\r\nContent-Length: 51\r\n\r\n" . '{"error":{"kind":[1],"message":{"a":1},"errors":1}}' => 'answer',
    'an endless body'     => endless_answer("HTTP/1.1 200 OK\r\n\r\n", 'x' x 65536)                 => 'too-long',
    'an endless chunked'  => endless_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "10000\r\n" . 'x' x 65536 . "\r\n") => 'too-long',
    'a huge length'       => endless_answer("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", 'x' x 65536) => 'too-long',
    'an endless line'     => endless_answer("HTTP/1.1 200 OK\r\nX: ", 'x' x 65536)                  => 'answer|away',
    'endless lines'       => endless_answer("HTTP/1.1 200 OK\r\n", "X: y\r\n" x 1000)               => 'answer|away',
);
while (my ($name, $answer, $kinds) = splice @nonsense, 0, 3) {
    my $server = Daemon->start_fake_server($answer);
    my $client = Icecore::Client->new(url => $server->url, timeout => 10, patience => 0, longest => 1 << 20);
    for (my $at = 0; $at < @$calls; $at += 2) {
        my ($call, $code) = @$calls[ $at, $at + 1 ];
        # Without jobs it waits; an unreachable server is accepted too.
        next if $call eq 'work' && $kinds =~ /away/;
        my $returned = eval { $code->($client); 1 };
        my $error    = $@;
        my $is_right = $returned ? $call =~ /fetch|remove/ && $name eq 'an error in HTML' : ref $error && $error->kind =~ /\A(?:$kinds)\z/;
        ok $is_right, "$name: $call" or diag $returned ? 'no error' : ref $error ? $error->kind . ": $error" : $error;
    }
}

# Answers in the right form, but for another question.
my $id = '01990f3a-7b11-7c0e-a1b2-0c4d5e6f7a8b';
for my $body ('{}', '{"jobs":7,"objects":{}}', '{"jobs":[1,"x",null],"objects":[[],null]}') {
    my $server = Daemon->start_fake_server(ok_response($body));
    # Each has a connection of its own, because the servers close them.
    my $client = sub { return Icecore::Client->new(url => $server->url, patience => 0) };
    is $client->()->work('q', sub { }, drain => 1), 0, "no jobs in $body";
    is $client->()->each(sub { }), 0, 'no objects';
    ok !eval { $client->()->push('q', [1]); 1 } && $@->kind eq 'answer', 'no id';
}
for my $body ('{"jobs":[{"id":"../../objects"}]}', '{"jobs":[{}]}', '{"jobs":[{"id":["x"]}]}') {
    my $server = Daemon->start_fake_server(ok_response($body));
    my $client = Icecore::Client->new(url => $server->url, patience => 0);
    ok !eval { $client->work('q', sub { }, drain => 1); 1 } && $@->kind eq 'answer', "no id of a job in $body";
}
for my $next ('0', '-1', '"x"', '[]', '1e99') {
    my $server = Daemon->start_fake_server(ok_response(qq({"objects":[{"id":"$id"}],"next":$next})));
    my $client = Icecore::Client->new(url => $server->url, patience => 0);
    my $count  = 0;
    ok !eval { $client->each(sub { $count++ }); 1 } && $@->kind eq 'answer', "an answer whose next page is $next is refused";
    cmp_ok $count, '<=', 1, 'it ends';
}
# Invalid descriptions of a job.
my @jobs = map { qq({"jobs":[{"id":"$id","token":"t",$_}]}) } '"bytes":"!!!"', '"bytes":"BAhvOgtHYWRnZXQA","format":"nothing"',
    '"bytes":"BAhvOgtHYWRnZXQA"', '"bytes":null,"format":"php"';
for my $body (@jobs) {
    my $server = Daemon->start_fake_server(sub { my ($client, $head) = @_; syswrite $client, ok_response($head =~ /claim/ ? $body : '{}') });
    my $client = Icecore::Client->new(url => $server->url, patience => 0);
    is $client->work('q', sub { fail('a block is called') }, limit => 1), 1, "given back: $body";
}

# A server that never answers.
my $silent = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1');
my $client = Icecore::Client->new(url => 'http://127.0.0.1:' . $silent->sockport, timeout => 0.2, patience => 0);
ok !eval { $client->push('q', [1]); 1 } && $@->kind eq 'away', 'a server that says nothing';

# Messages of a server are shown escaped.
my $server = Daemon->start_fake_server("HTTP/1.1 400 Bad Request\r\nContent-Length: 52\r\n\r\n" . '{"error":{"kind":"odd","message":"a\\u001b[31m b\\n"}}');
ok !eval { Icecore::Client->new(url => $server->url)->push('q', [1]); 1 };
is "$@", "Icecore: a\\x{1b}[31m b\\x{0a}\n", 'no character of it does anything';

done_testing;
