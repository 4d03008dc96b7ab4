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

sub run_jobs {
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
like $id, qr/\A[0-9a-f]{8}-[0-9a-f]{4}-7/, 'push returns a UUID of version 7';
my $seen;
is run_jobs('mail', sub { $seen = shift; return { sent => 1 } }), 1, 'a worker runs the job';
is_deeply $seen->value, $value, 'the job has the value that was pushed';
isa_ok $seen->value->{order}, 'Order';
is_deeply [ $seen->id, $seen->queue, $seen->attempt, $seen->format ], [ $id, 'mail', 1, 'storable' ], 'the job has its id, queue, attempt and format';
my $job = $client->job($id);
is_deeply [ @$job{qw(state priority result)} ], [ 'done', 3, { sent => 1 } ], 'the job is done, with the result of the sub';
is run_jobs('mail', sub { }), 0, 'a finished job is not delivered again';
is $client->job('01990f3a-7b11-7c0e-a1b2-0c4d5e6f7a8b'), undef, 'a job that does not exist is undef';

is $client->push('mail', [1], id => $id), $id, 'pushing with the id of a job returns that job';
is run_jobs('mail', sub { }), 0, 'pushing with the id of a finished job creates no job';
my $unique = $client->push('mail', [1], unique => 'k');
is $client->push('mail', [2], unique => 'k'), $unique, 'pushing with the same unique key returns the same job';
run_jobs('mail', sub { });

for my $format (qw(storable sereal json php marshal)) {
    $client->push('formats', [ 1, 'two', { three => 4 } ], format => $format);
    run_jobs('formats', sub { $seen = shift });
    is_deeply $seen->value, [ 1, 'two', { three => 4 } ], "$format: the value is read back";
    is $seen->format, $format, "$format: the job has the format";
}
$client->push_bytes('formats', "\x04\b[\x06i\x06");
run_jobs('formats', sub { $seen = shift });
is_deeply [ $seen->value, $seen->format, $seen->bytes ], [ [1], 'marshal', "\x04\b[\x06i\x06" ], 'push_bytes pushes bytes unchanged';
is kind_of { $client->push('formats', 'text') }, 'usage', "push refuses a plain scalar in Storable's format";
$client->push('formats', 'text', format => 'sereal');
run_jobs('formats', sub { $seen = shift });
is $seen->value, 'text', "push accepts a plain scalar in Sereal's format";

# Names with characters that have a meaning in an address.
for my $queue ("a b&c=d/../e?f#g+%00\\", "Gr\x{fc}\x{df}e \x{1f600}", '..', '%2e') {
    my $pushed = $client->push($queue, [1], unique => "k&queue=other");
    is $client->job($pushed)->{queue}, $queue, 'a job has the name of a queue with special characters';
    is run_jobs($queue, sub { }), 1, 'a worker of a queue with special characters gets the job';
}

is kind_of { $client->push("q\r\nX: y", [1]) }, 'input', 'a queue name with a line break is refused';
is kind_of { $client->push('q', [1], unique => "\r\n\r\n") }, 'input', 'a key with a line break is refused';

# The errors of a block that dies.
$id = $client->push('fails', [1], max_attempts => 1);
run_jobs('fails', sub { die { a => 1 } });
like $client->job($id)->{error}, qr/^HASH/, 'an exception that is not a string is stored as text';
$id = $client->push('fails', [1], max_attempts => 1);
is run_jobs('fails', sub { die "no such user\n" }), 1, 'a worker continues after a sub that dies';
is_deeply [ @{ $client->job($id) }{qw(state error)} ], [ 'dead', 'no such user' ], 'a job whose sub dies is dead, with the error';

# A job that can't be thawed.
$id = $client->push('hostile', [ bless {}, 'Gadget' ], max_attempts => 1);
my $second = $client->push('hostile', [1]);
my @worked;
is run_jobs('hostile', sub { push @worked, $_[0]->id }), 2, 'a payload that is refused does not stop a worker';
is_deeply \@worked, [$second], 'the sub is not called for a refused payload';
like $client->job($id)->{error}, qr/class Gadget at \$\[0\] is not allowed/, 'a job with a refused payload has the error';
is $client->job($id)->{state}, 'dead', 'a job with a refused payload is dead';
$id = $client->push_bytes('hostile', "\x04\b[\x06", max_attempts => 1);
run_jobs('hostile', sub { });
is $client->job($id)->{state}, 'dead', 'a job with truncated bytes is dead';
is $Gadget::built, 0, 'no code of the payload ran';
$client->push('hostile', [ Order->new ]);
run_jobs('hostile', sub { $seen = shift }, classes => 'record');
isa_ok $seen->value->[0], 'Icecore::Record', 'the list of a call:';

# Results that are not plain data are not stored.
for my $result (Order->new, sub { }, undef, \*STDOUT) {
    $id = $client->push('results', [1]);
    run_jobs('results', sub { $result });
    is_deeply [ @{ $client->job($id) }{qw(state result)} ], [ 'done', undef ], "a result that JSON can't express is not stored";
}
for my $result (0, 'text', [], [ { a => undef } ]) {
    $id = $client->push('results', [1]);
    run_jobs('results', sub { $result });
    is_deeply $client->job($id)->{result}, $result, 'a result in JSON is stored';
}

# Leases.
sub let_lease_end { my ($job) = @_; $job->extend(0.1); sleep 0.2; return }
$id = $client->push('leases', [1]);
run_jobs('leases', sub { my ($job) = @_; $job->extend(600); ok $job->left > 500, 'extend gives the job a longer lease' }, lease => 5);
is $client->job($id)->{state}, 'done', 'a job with an extended lease is done';
$id = $client->push('leases', [1]);
run_jobs('leases', sub { let_lease_end($_[0]); $client->work('leases', sub { 2 }, drain => 1); 1 });
is_deeply [ @{ $client->job($id) }{qw(state result attempts)} ], [ 'done', 2, 2 ], "a worker without its lease can't finish the job";
like "@log", qr/$id: ack: /, 'the worker logs that the lease was lost';
$id = $client->push('leases', [1]);
run_jobs('leases', sub { my ($job) = @_; let_lease_end($job); is kind_of { $job->extend }, 'lease', 'extend dies if the lease has ended' }, limit => 1);
is scalar(@log), 1, 'the lost lease is logged once';
$client->push('delayed', [1], delay => 3600);
is run_jobs('delayed', sub { }), 0, 'a delayed job is not delivered yet';

# One after the other.
my $first = $client->push('first', [1]);
$client->push('second', [2], after => $first);
is run_jobs('second', sub { }), 0, 'a job with `after` waits for the other job';
is run_jobs($_, sub { }), 1, "a job is delivered after the jobs before it: $_" for 'first', 'second';

# Several at a time.
$client->push('several', [$_]) for 1 .. 7;
is run_jobs('several', sub { push @worked, $_[0] }, max => 3, limit => 5), 5, 'a worker stops at its limit';
is run_jobs('several', sub { }), 2, 'the jobs after the limit stay in the queue';

# Signals.
$client->push('signals', [$_]) for 1 .. 3;
is $client->work('signals', sub { kill TERM => $$; 1 }, max => 3), 1, 'after SIGTERM a worker finishes the current job only';
is run_jobs('signals', sub { }), 2, 'jobs that the worker has not begun are free at once';
ok !defined $SIG{TERM}, 'the handler of SIGTERM is restored';

is kind_of { $client->push('', [1]) }, 'usage', 'a queue without a name is refused';
is kind_of { $client->push('q', [1], prioritty => 1) }, 'usage', 'an unknown option of push is refused';
is kind_of { Icecore::Client->new(ulr => 1) }, 'usage', 'an unknown option of new is refused';
is kind_of { Icecore::Client->new(token => "a\r\nX: y") }, 'usage', 'a token with a line break is refused';
is kind_of { Icecore::Client->new(url => $_) }, 'usage', "the address is refused: $_" for 'ftp://x', 'http://a b', "http://a\r\nX: y", 'x', 'http://h/?a=b';
is kind_of { $client->push('q', [1], delay => 'soon') }, 'parameter', "a parameter that the daemon refuses has its kind";
is kind_of { $client->push_bytes('q', '{"user":{"id":}}', format => 'json') }, 'malformed', 'a payload that the daemon refuses has its kind';
is $@->path, '$.user.id', 'the error has the path in the payload';
is $@->status, 400, 'the error has the status code';

my $again = $client->replay($id);
is $client->job($again)->{replay_of}, $id, 'replay creates a new job that names the old one';

# -- Objects -------------------------------------------------------------------

my $order  = Order->new(id => 1, note => "\x{263a}");
my $object = $client->store($order, key => 'first', expires => '1h');
is_deeply $client->fetch($object), $order, 'fetch returns the object that was stored';
is_deeply $client->fetch_named('first'), $order, 'fetch_named returns the object by its key';
is $client->fetch_named('second'), undef, 'fetch_named returns undef for an unknown key';
is kind_of { $client->store($order, key => 'first') }, 'taken', 'storing under a key that exists fails';
is $client->store($order, key => 'first', id => $object), $object, 'storing with an id that exists returns that object';
my @ids = ($object, map { $client->store([$_]) } 1 .. 5);
push @ids, my $gadget = $client->store([ bless {}, 'Gadget' ]), my $broken = $client->store_bytes("\x04\b[\x06", format => 'marshal');
my (@records, @objects);
is $client->each(sub { push @records, $_[0]; push @objects, $_[1] }, page => 3), 8, 'each visits all objects, page by page';
is_deeply [ map { $_->id } @records ], \@ids, 'each visits objects in the order of their creation';
is_deeply [ @objects[ 0 .. 5 ] ], [ $order, map { [$_] } 1 .. 5 ], 'each passes the objects';
my $record = $records[0];
is_deeply [ $record->key, $record->format, $record->class, length $record->checksum, $record->size, $record->problem ],
    [ 'first', 'storable', 'Order', 64, length $record->bytes, undef ], 'a record has information about its object';
ok abs($record->expires_at - $record->stored_at - 3_600_000) < 5_000, 'a record has the times of its object';
like $records[6]->problem, qr/class Gadget at/, 'a class that is not allowed is the problem of a record';
like $records[7]->problem, qr/too early/, 'damaged bytes are the problem of a record';
is_deeply [ @objects[ 6, 7 ] ], [ undef, undef ], 'a record with a problem has no object';
is $Gadget::built, 0, 'no code of the refused object ran';
my $next = $client->iterator(class => 'Order');
is_deeply [ ($next->())[1] ], [$order], 'an iterator can be limited to a class';
is_deeply [ $next->() ], [], 'an iterator ends with an empty list';
is $client->remove($object), 1, 'remove returns true for an object that existed';
is $client->remove($object), 0, 'remove returns false for an object that was removed';
is $client->fetch($object), undef, "an object that was removed can't be fetched";
is kind_of { $client->fetch($gadget) }, "no error of the client: $@", 'fetch dies of a class that is not allowed' if !eval { $client->fetch($gadget); 1 };

# -- A daemon that is away -----------------------------------------------------

my $patient = Icecore::Client->new(url => $daemon->url, patience => 20);
$daemon->stop;
is kind_of { Icecore::Client->new(url => $daemon->url, patience => 0.2)->push('q', [1]) }, 'away', 'without a daemon the kind of the error is `away`';
$daemon->start_after(0.4);
ok $patient->push('later', [1]), 'push waits until the daemon is back';
is $patient->work('later', sub { 1 }, limit => 1, log => sub { }), 1, 'a worker waits until the daemon is back';

my $guarded = Daemon->start(token => 'secret');
is kind_of { Icecore::Client->new(url => $guarded->url)->push('q', [1]) }, 'token', 'push needs the token';
is kind_of { Icecore::Client->new(url => $guarded->url)->work('q', sub { }, drain => 1) }, 'token', 'work dies at once without the token';
ok(Icecore::Client->new(url => "$guarded->{url}/", token => 'secret')->push('q', [1]), 'the option `token` is used');
{
    local @ENV{qw(ICECORE_URL ICECORE_TOKEN)} = ($guarded->url, 'secret');
    ok(Icecore::Client->new->push('q', [1]), 'the token is read from the environment');
}
my $file = File::Temp->new;
print {$file} "secret\n";
close $file;
ok(Icecore::Client->new(url => $guarded->url, token_file => "$file")->push('q', [1]), 'the token is read from a file');

done_testing;
