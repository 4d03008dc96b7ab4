# The client with a daemon.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Both;
BEGIN { ours_only() }
use Daemon;
use Icecore::Client;
use Time::HiRes qw(sleep);

plan skip_all => 'the command icecore is not built' unless Daemon->command;

# A class whose hook must not run.
package Order  { sub new { my ($class, %fields) = @_; return bless {%fields}, $class } }
package Gadget { our $built = 0; sub STORABLE_thaw { $built++; return } sub STORABLE_freeze { return 'x' } }

package main;

my $daemon = Daemon->start;
my $client = Icecore::Client->new(url => $daemon->url, classes => ['Order']);
my @log;

sub drain {
    my ($queue, $code, %options) = @_;
    @log = ();
    return $client->work($queue, $code, drain => 1, log => sub { push @log, @_ }, %options);
}

sub kind_of(&) {
    my ($code) = @_;
    return 'nothing' if eval { $code->(); 1 };
    return ref $@ ? $@->kind : "no error of the client: $@";
}

# -- Jobs ----------------------------------------------------------------------

my $value = { to => "ann\x{e9}", list => [ 1, undef, "\xff\0", 2.5 ], order => Order->new(id => 7) };
my $id    = $client->push('mail', $value, priority => 3, max_attempts => 2);
like $id, qr/\A[0-9a-f]{8}-[0-9a-f]{4}-7/, 'an id comes back';
my $seen;
is drain('mail', sub { $seen = shift; return { sent => 1 } }), 1, 'a job is worked on';
is_deeply $seen->value, $value, 'with its value';
isa_ok $seen->value->{order}, 'Order';
is_deeply [ $seen->id, $seen->queue, $seen->attempt, $seen->format ], [ $id, 'mail', 1, 'storable' ], 'and what is said of it';
my $job = $client->job($id);
is_deeply [ @$job{qw(state priority result)} ], [ 'done', 3, { sent => 1 } ], 'it is done, with the result';
is drain('mail', sub { }), 0, 'and is not there twice';
is $client->job('01990f3a-7b11-7c0e-a1b2-0c4d5e6f7a8b'), undef, 'no such job';

is $client->push('mail', [1], id => $id), $id, 'the same id is the same job';
is drain('mail', sub { }), 0, '... also when it is done';
my $unique = $client->push('mail', [1], unique => 'k');
is $client->push('mail', [2], unique => 'k'), $unique, 'the same key is the same job';
drain('mail', sub { });

for my $format (qw(storable sereal json php marshal)) {
    $client->push('formats', [ 1, 'two', { three => 4 } ], format => $format);
    drain('formats', sub { $seen = shift });
    is_deeply $seen->value, [ 1, 'two', { three => 4 } ], "$format: there and back";
    is $seen->format, $format, "$format: it is named";
}
$client->push_bytes('formats', "\x04\b[\x06i\x06");
drain('formats', sub { $seen = shift });
is_deeply [ $seen->value, $seen->format, $seen->bytes ], [ [1], 'marshal', "\x04\b[\x06i\x06" ], 'bytes are pushed as they are';
is kind_of { $client->push('formats', 'text') }, 'usage', 'Storable has no plain scalars';
$client->push('formats', 'text', format => 'sereal');
drain('formats', sub { $seen = shift });
is $seen->value, 'text', 'Sereal has';

# Names with characters that have a meaning in an address.
for my $queue ("a b&c=d/../e?f#g+%00\\", "Gr\x{fc}\x{df}e \x{1f600}", '..', '%2e') {
    my $pushed = $client->push($queue, [1], unique => "k&queue=other");
    is $client->job($pushed)->{queue}, $queue, 'a queue with a strange name';
    is drain($queue, sub { }), 1, 'it is asked for by that';
}

is kind_of { $client->push("q\r\nX: y", [1]) }, 'input', 'a queue is no header';
is kind_of { $client->push('q', [1], unique => "\r\n\r\n") }, 'input', 'nor is a key';

# The errors of a block that dies.
$id = $client->push('fails', [1], max_attempts => 1);
drain('fails', sub { die { a => 1 } });
like $client->job($id)->{error}, qr/^HASH/, 'an error that is no text';
$id = $client->push('fails', [1], max_attempts => 1);
is drain('fails', sub { die "no such user\n" }), 1, 'a block may die';
is_deeply [ @{ $client->job($id) }{qw(state error)} ], [ 'dead', 'no such user' ], 'and the job is dead, with the reason';

# A job that can't be thawed.
$id = $client->push('hostile', [ bless {}, 'Gadget' ], max_attempts => 1);
my $behind = $client->push('hostile', [1]);
my @worked;
is drain('hostile', sub { push @worked, $_[0]->id }), 2, 'a payload that is refused does not stop a worker';
is_deeply \@worked, [$behind], 'nobody is called with it';
like $client->job($id)->{error}, qr/class Gadget at \$\[0\] is not allowed/, 'it is dead, with the reason';
is $client->job($id)->{state}, 'dead', '... dead';
$id = $client->push_bytes('hostile', "\x04\b[\x06", max_attempts => 1);
drain('hostile', sub { });
is $client->job($id)->{state}, 'dead', 'nor do bytes that break off';
is $Gadget::built, 0, 'nothing of it ran';
$client->push('hostile', [ Order->new ]);
drain('hostile', sub { $seen = shift }, classes => 'record');
isa_ok $seen->value->[0], 'Icecore::Record', 'the list of a call:';

# Results that are not plain data are not stored.
for my $result (Order->new, sub { }, undef, \*STDOUT) {
    $id = $client->push('results', [1]);
    drain('results', sub { $result });
    is_deeply [ @{ $client->job($id) }{qw(state result)} ], [ 'done', undef ], 'no result';
}
for my $result (0, 'text', [], [ { a => undef } ]) {
    $id = $client->push('results', [1]);
    drain('results', sub { $result });
    is_deeply $client->job($id)->{result}, $result, 'a result';
}

# Leases.
sub lose { my ($job) = @_; $job->extend(0.1); sleep 0.2; return }
$id = $client->push('leases', [1]);
drain('leases', sub { my ($job) = @_; $job->extend(600); ok $job->left > 500, 'a lease is extended' }, lease => 5);
is $client->job($id)->{state}, 'done', 'and the job done';
$id = $client->push('leases', [1]);
drain('leases', sub { lose($_[0]); $client->work('leases', sub { 2 }, drain => 1); 1 });
is_deeply [ @{ $client->job($id) }{qw(state result attempts)} ], [ 'done', 2, 2 ], 'who lost the lease does not end the job';
like "@log", qr/$id: ack: /, 'and is told';
$id = $client->push('leases', [1]);
drain('leases', sub { my ($job) = @_; lose($job); is kind_of { $job->extend }, 'lease', 'a lease that ended is not extended' }, limit => 1);
is scalar(@log), 1, '... and said once';
$client->push('delayed', [1], delay => 3600);
is drain('delayed', sub { }), 0, 'a delay';

# One after the other.
my $first = $client->push('first', [1]);
$client->push('second', [2], after => $first);
is drain('second', sub { }), 0, 'a job waits for another';
is drain($_, sub { }), 1, "... and is handed out when that is done: $_" for 'first', 'second';

# Several at a time.
$client->push('several', [$_]) for 1 .. 7;
is drain('several', sub { push @worked, $_[0] }, max => 3, limit => 5), 5, 'at most so many';
is drain('several', sub { }), 2, 'the rest stays';

# Signals.
$client->push('signals', [$_]) for 1 .. 3;
is $client->work('signals', sub { kill TERM => $$; 1 }, max => 3), 1, 'SIGTERM: the current job is done, then it stops';
is drain('signals', sub { }), 2, 'what it had is free at once';
ok !defined $SIG{TERM}, 'the handler is as before';

is kind_of { $client->push('', [1]) }, 'usage', 'a queue needs a name';
is kind_of { $client->push('q', [1], prioritty => 1) }, 'usage', 'options are checked';
is kind_of { Icecore::Client->new(ulr => 1) }, 'usage', 'also of new';
is kind_of { Icecore::Client->new(token => "a\r\nX: y") }, 'usage', 'a token is no header';
is kind_of { Icecore::Client->new(url => $_) }, 'usage', "no address: $_" for 'ftp://x', 'http://a b', "http://a\r\nX: y", 'x', 'http://h/?a=b';
is kind_of { $client->push('q', [1], delay => 'soon') }, 'parameter', "the daemon's own words";
is kind_of { $client->push_bytes('q', '{"user":{"id":}}', format => 'json') }, 'malformed', '... of a payload';
is $@->path, '$.user.id', '... with the path';
is $@->status, 400, '... and the code';

my $again = $client->replay($id);
is $client->job($again)->{replay_of}, $id, 'a job once more';

# -- Objects -------------------------------------------------------------------

my $order  = Order->new(id => 1, note => "\x{263a}");
my $object = $client->store($order, key => 'first', expires => '1h');
is_deeply $client->fetch($object), $order, 'an object is stored and fetched';
is_deeply $client->fetch_named('first'), $order, '... by its key';
is $client->fetch_named('second'), undef, 'there is none';
is kind_of { $client->store($order, key => 'first') }, 'taken', 'a key is taken';
is $client->store($order, key => 'first', id => $object), $object, 'the same id is the same object';
my @ids = ($object, map { $client->store([$_]) } 1 .. 5);
push @ids, my $gadget = $client->store([ bless {}, 'Gadget' ]), my $broken = $client->store_bytes("\x04\b[\x06", format => 'marshal');
my (@records, @objects);
is $client->each(sub { push @records, $_[0]; push @objects, $_[1] }, page => 3), 8, 'all are visited, in pages';
is_deeply [ map { $_->id } @records ], \@ids, 'in order';
is_deeply [ @objects[ 0 .. 5 ] ], [ $order, map { [$_] } 1 .. 5 ], 'with their objects';
my $record = $records[0];
is_deeply [ $record->key, $record->format, $record->class, length $record->checksum, $record->size, $record->problem ],
    [ 'first', 'storable', 'Order', 64, length $record->bytes, undef ], 'and what is known of them';
ok abs($record->expires_at - $record->stored_at - 3_600_000) < 5_000, 'their times';
like $records[6]->problem, qr/class Gadget at/, 'one that is not allowed is told with the reason';
like $records[7]->problem, qr/too early/, 'and one that is damaged';
is_deeply [ @objects[ 6, 7 ] ], [ undef, undef ], 'without an object';
is $Gadget::built, 0, 'nothing of it ran';
my $next = $client->iterator(class => 'Order');
is_deeply [ ($next->())[1] ], [$order], 'an iterator, of a class';
is_deeply [ $next->() ], [], 'and its end';
is $client->remove($object), 1, 'removed';
is $client->remove($object), 0, 'it was not there';
is $client->fetch($object), undef, 'nor is it now';
is kind_of { $client->fetch($gadget) }, "no error of the client: $@", 'fetch dies as decode does' if !eval { $client->fetch($gadget); 1 };

# -- A daemon that is away -----------------------------------------------------

my $patient = Icecore::Client->new(url => $daemon->url, patience => 20);
$daemon->end;
is kind_of { Icecore::Client->new(url => $daemon->url, patience => 0.2)->push('q', [1]) }, 'away', 'nobody is there';
$daemon->begin_in(0.4);
ok $patient->push('later', [1]), 'a push waits for the daemon';
is $patient->work('later', sub { 1 }, limit => 1, log => sub { }), 1, 'and a worker';

my $guarded = Daemon->start(token => 'secret');
is kind_of { Icecore::Client->new(url => $guarded->url)->push('q', [1]) }, 'token', 'a token is needed';
is kind_of { Icecore::Client->new(url => $guarded->url)->work('q', sub { }, drain => 1) }, 'token', 'also to work: that does not get better by waiting';
ok(Icecore::Client->new(url => "$guarded->{url}/", token => 'secret')->push('q', [1]), 'and taken');
{
    local @ENV{qw(ICECORE_URL ICECORE_TOKEN)} = ($guarded->url, 'secret');
    ok(Icecore::Client->new->push('q', [1]), 'also from the environment');
}
my $file = File::Temp->new;
print {$file} "secret\n";
close $file;
ok(Icecore::Client->new(url => $guarded->url, token_file => "$file")->push('q', [1]), 'and from a file');

done_testing;
