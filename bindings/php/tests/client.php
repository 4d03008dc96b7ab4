<?php
// The client with a daemon, and with servers that send invalid answers.
//
//   php -d extension=icecore.so client.php
declare(strict_types=1);

require __DIR__ . '/plugs/lib.php';
require __DIR__ . '/lib/Daemon.php';
require dirname(__DIR__) . '/Icecore/Client.php';

use Icecore\Client;
use Icecore\Client\Job;
use Icecore\ClientException;

final class Order
{
    public function __construct(public readonly int $id, public readonly string $note = '')
    {
    }
}

/** A class whose hooks must not run. */
final class Gadget
{
    public static int $ran = 0;

    public function __wakeup(): void
    {
        self::$ran++;
    }

    public function __destruct()
    {
        self::$ran += (int) !self::$isMine;
    }

    public static bool $isMine = false;
}

/** A class whose hook rejects its data. */
final class Picky
{
    public function __wakeup(): void
    {
        throw new LogicException('not like this');
    }
}

function kind(callable $call): string
{
    try {
        $call();
        return 'nothing';
    } catch (Icecore\Exception $error) {
        return $error->kind;
    }
}

const ID = '01990f3a-7b11-7c0e-a1b2-0c4d5e6f7a8b';

// -- Servers that send invalid answers --------------------------------------------

$calls = [
    'push' => fn (Client $client) => $client->push('q', [1]),
    'work' => fn (Client $client) => $client->work('q', fn () => check('a block is called', false), drain: true),
    'fetch' => fn (Client $client) => $client->fetch(ID),
    'each' => fn (Client $client) => iterator_count($client->each()),
    'remove' => fn (Client $client) => $client->remove(ID),
];
$part = str_repeat('x', 65536);
$nonsense = [
    'nothing' => ['', null, 'away'],
    'no HTTP' => ["SSH-2.0-OpenSSH\r\n\r\n", null, 'answer'],
    'bytes' => [random_bytes(1000) . "\r\n\r\n", null, 'answer'],
    'half a head' => ["HTTP/1.1 200 OK\r\nContent-Le", null, 'away'],
    'half a body' => ["HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"id\":", null, 'away'],
    'half a chunk' => ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{\"id\":", null, 'away'],
    'a chunk too long' => ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n", null, 'answer'],
    'chunks without an end' => ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", null, 'away'],
    'a negative chunk' => ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", null, 'answer'],
    'a page' => ["HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>", null, 'answer'],
    'a length that is none' => ["HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{}", null, 'answer'],
    'a negative length' => ["HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}", null, 'answer'],
    'a code that is none' => ["HTTP/1.1 20 OK\r\n\r\n{}", null, 'answer'],
    'a header that is none' => ["HTTP/1.1 200 OK\r\nX\r\n\r\n{}", null, 'answer'],
    'no answer in it' => ["HTTP/1.1 204 No Content\r\n\r\n", null, 'answer'],
    'a list' => [FakeServer::ok('[]'), null, 'answer'],
    'a text' => [FakeServer::ok('"x"'), null, 'answer'],
    'a deep list' => [FakeServer::ok('{"id":' . str_repeat('[', 1_000_000 - 10)), null, 'answer'],
    'a redirection' => ["HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", null, 'answer'],
    'a page that is not there' => ["HTTP/1.1 404 Not Found\r\nContent-Length: 6\r\n\r\n<html>", null, 'answer'],
    'an error of lists' => ["HTTP/1.1 400 Bad\r\nContent-Length: 51\r\n\r\n" . '{"error":{"kind":[1],"message":{"a":1},"errors":1}}', null, 'answer'],
    'an endless body' => ["HTTP/1.1 200 OK\r\n\r\n", $part, 'too-long'],
    'an endless chunked body' => ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "10000\r\n$part\r\n", 'too-long'],
    'a huge length' => ["HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", $part, 'too-long'],
    'an endless line' => ["HTTP/1.1 200 OK\r\nX: ", $part, 'answer'],
    'endless lines' => ["HTTP/1.1 200 OK\r\n", str_repeat("X: y\r\n", 1000), 'answer'],
    'endless waiting' => ['', str_repeat("HTTP/1.1 100 Continue\r\n\r\n", 1000), 'answer'],
    'an endless chunk line' => ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", $part, 'answer'],
    'endless trailers' => ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", str_repeat("X: y\r\n", 1000), 'answer'],
];
foreach ($nonsense as $name => [$answer, $endless, $wanted]) {
    $server = new FakeServer($answer, $endless);
    foreach ($calls as $call => $do) {
        // An unreachable server: it waits.
        if ($call === 'work' && $wanted === 'away') {
            continue;
        }
        $isRight = $name === 'a page that is not there' && in_array($call, ['fetch', 'remove'], true) ? 'nothing' : $wanted;
        same("$name: $call", $isRight, kind(fn () => $do(new Client($server->url, timeout: 20, patience: 0, longest: 1 << 20))));
    }
}
foreach (['{}', '{"jobs":7,"objects":{}}', '{"jobs":[1,"x",null],"objects":[[],null]}'] as $body) {
    $server = new FakeServer(FakeServer::ok($body));
    same("no jobs in $body", 0, (new Client($server->url))->work('q', fn () => null, drain: true));
    same('no id', 'answer', kind(fn () => (new Client($server->url))->push('q', [1])));
}
foreach (['{"id":"../../objects"}', '{}', '{"id":["x"]}', '{"id":"' . ID . '\n"}'] as $job) {
    $server = new FakeServer(FakeServer::ok("{\"jobs\":[$job]}"));
    same("no id of a job: $job", $job === '{}' ? 'answer' : 'answer', kind(fn () => (new Client($server->url))->work('q', fn () => null, drain: true)));
}
foreach (['0', '-1', '"x"', '[]', '1e99'] as $behind) {
    $server = new FakeServer(FakeServer::ok('{"objects":[{"id":"' . ID . "\"}],\"next\":$behind}"));
    same("a list goes on behind $behind", 'answer', kind(fn () => iterator_count((new Client($server->url))->each())));
}
foreach (['"bytes":"!!!"', '"bytes":"TzoxOiJHIjowOnt9","format":"nothing"', '"bytes":"Tzo2OiJHYWRnZXQiOjA6e30="', '"bytes":null,"format":"php"', '"bytes":7,"format":7'] as $said) {
    $server = new FakeServer(FakeServer::ok('{}'), null, FakeServer::ok('{"jobs":[{"id":"' . ID . "\",\"token\":\"t\",$said}]}"));
    same("given back: $said", 1, (new Client($server->url))->work('q', fn () => check('a block is called', false), limit: 1));
}
$silent = stream_socket_server('tcp://127.0.0.1:0');
same('a server that says nothing', 'away', kind(fn () => (new Client('http://' . stream_socket_get_name($silent, false), timeout: 0.2, patience: 0))->push('q', [1])));
$server = new FakeServer("HTTP/1.1 400 Bad\r\nContent-Length: 52\r\n\r\n" . '{"error":{"kind":"odd","message":"a\u001b[31m b\n"}}');
same('no character of it does anything', 'a\u001b[31m b\n', thrown(fn () => (new Client($server->url))->push('q', [1]))->getMessage());
same('a queue needs a name', 'usage', kind(fn () => (new Client())->push('', [1])));
same('a token is no header', 'usage', kind(fn () => new Client(token: "a\r\nX: y")));
foreach (['ftp://x', 'http://a b', "http://a\r\nX: y", 'x', 'http://h/?a=b', 'http://', 'http://a@b'] as $url) {
    same("no address: $url", 'usage', kind(fn () => new Client($url)));
}

// -- A daemon --------------------------------------------------------------------

if (Daemon::command() === null) {
    echo "left out: the client with a daemon: the command icecore is not built\n";
    finish();
}
$daemon = new Daemon();
$client = new Client($daemon->url, classes: ['Order', 'Picky']);
$log = [];
$drain = function (string $queue, ?callable $do = null, mixed ...$more) use ($client, &$log): int {
    $log = [];
    return $client->work($queue, $do ?? fn () => null, ...$more + ['drain' => true, 'log' => function (string $line) use (&$log): void { $log[] = $line; }]);
};
$one = function (string $queue, mixed ...$more) use ($drain): ?Job {
    $seen = null;
    $drain($queue, function (Job $job) use (&$seen): void { $seen = $job; }, ...$more);
    return $seen;
};
$of = fn (string $id, string ...$names): array => array_map(fn (string $name) => $client->job($id)[$name] ?? null, $names);

$value = ['to' => "ann\u{e9}", 'list' => [1, null, "\xff\0", 2.5], 'order' => new Order(7)];
$id = $client->push('mail', $value, priority: 3, maxAttempts: 2);
check('an id comes back', preg_match('/\A[0-9a-f]{8}-[0-9a-f]{4}-7/', $id) === 1);
$seen = null;
same('a job is worked on', 1, $drain('mail', function (Job $job) use (&$seen) { $seen = $job; return ['sent' => 1]; }));
check('with its value', $seen->value == $value && $seen->value['order'] instanceof Order);
same('and what is said of it', [$id, 'mail', 1, 'php'], [$seen->id, $seen->queue, $seen->attempt, $seen->format]);
same('it is done, with the result', ['done', 3, ['sent' => 1]], $of($id, 'state', 'priority', 'result'));
same('and is not there twice', 0, $drain('mail'));
same('no such job', null, $client->job(ID));
same('the same id is the same job', $id, $client->push('mail', [1], id: $id));
same('... also when it is done', 0, $drain('mail'));
$unique = $client->push('mail', [1], unique: 'k');
same('the same key is the same job', $unique, $client->push('mail', [2], unique: 'k'));
$drain('mail');

foreach (['php', 'igbinary', 'json', 'marshal', 'storable', 'sereal'] as $format) {
    $client->push('formats', [1, 'two', ['three' => 4]], format: $format);
    $seen = $one('formats');
    same("$format: there and back", [[1, 'two', ['three' => 4]], $format], [$seen->value, $seen->format]);
}
$client->pushBytes('formats', "\x04\x08[\x06i\x06");
$seen = $one('formats');
same('bytes are pushed as they are', [[1], 'marshal', "\x04\x08[\x06i\x06"], [$seen->value, $seen->format, $seen->bytes]);
same('JSON has plain data only', 'unrepresentable', kind(fn () => $client->push('formats', new Order(1), format: 'json')));
foreach (['a b&c=d/../e?f#g+%00\\', "Gr\u{fc}\u{df}e \u{1f600}", '..', '%2e'] as $queue) {
    $pushed = $client->push($queue, [1], unique: 'k&queue=other');
    same('a queue with a strange name', [$queue], $of($pushed, 'queue'));
    same('it is asked for by that', 1, $drain($queue));
}
same('a queue is no header', 'input', kind(fn () => $client->push("q\r\nX: y", [1])));
same('nor is a key', 'input', kind(fn () => $client->push('q', [1], unique: "\r\n\r\n")));

$id = $client->push('fails', [1], maxAttempts: 1);
same('a block may throw', 1, $drain('fails', fn () => throw new RuntimeException('no such user')));
same('and the job is dead, with the reason', ['dead', 'RuntimeException: no such user'], $of($id, 'state', 'error'));
foreach ([new Error("\xff\xfe"), new Exception(str_repeat('y', 10_000)), new TypeError()] as $error) {
    $id = $client->push('fails', [1], maxAttempts: 1);
    $drain('fails', fn () => throw $error);
    same('another error', ['dead'], $of($id, 'state'));
}

Gadget::$isMine = true;
$hostile = [new Gadget()];
$id = $client->push('hostile', $hostile, maxAttempts: 1);
$behind = $client->push('hostile', [1]);
$worked = [];
same('a payload that is refused does not stop a worker', 2, $drain('hostile', function (Job $job) use (&$worked): void { $worked[] = $job->id; }));
same('nobody is called with it', [$behind], $worked);
check('it is dead, with the reason', $of($id, 'state') === ['dead'] && str_contains($client->job($id)['error'], 'Gadget'), said: $client->job($id)['error'] ?? '');
$id = $client->pushBytes('hostile', "\x04\x08[\x06", maxAttempts: 1);
$drain('hostile');
same('nor do bytes that break off', ['dead'], $of($id, 'state'));
same('nothing of it ran', 0, Gadget::$ran);
$id = $client->push('hostile', [new Picky()], maxAttempts: 1);
$drain('hostile');
same('a hook that throws', ['dead', 'LogicException: not like this'], $of($id, 'state', 'error'));

$deep = [];
for ($level = 0; $level < 200; $level++) {
    $deep = [$deep];
}
$ring = [];
$ring[0] = &$ring;
$talking = new class () implements JsonSerializable {
    public function jsonSerialize(): mixed
    {
        check('it is called', false);
        return 1;
    }
};
foreach ([new Order(1), fn () => 1, null, NAN, "\xff", $deep, $ring, $talking, [$talking], ["\xff" => 1]] as $result) {
    $id = $client->push('results', [1]);
    $drain('results', fn () => $result);
    same('no result', ['done', null], $of($id, 'state', 'result'));
}
foreach ([0, 'text', [], [['a' => null]], 1.0, true] as $result) {
    $id = $client->push('results', [1]);
    $drain('results', fn () => $result);
    same('a result', [$result], $of($id, 'result'));
}

// Leases.
$lose = function (Job $job): void {
    $job->extend(0.1);
    usleep(200_000);
};
$id = $client->push('leases', [1]);
$drain('leases', function (Job $job): void { $job->extend(600); check('a lease is extended', $job->left() > 500); });
$id = $client->push('leases', [1]);
$drain('leases', function (Job $job) use ($lose, $client) { $lose($job); $client->work('leases', fn () => 2, drain: true); return 1; });
same('who lost the lease does not end the job', ['done', 2, 2], $of($id, 'state', 'result', 'attempts'));
check('and is told', count($log) === 1 && str_starts_with($log[0], "job $id: ack: "), log: $log);
$client->push('leases', [1]);
$drain('leases', function (Job $job) use ($lose): void { $lose($job); same('a lease that ended is not extended', 'lease', kind(fn () => $job->extend())); }, limit: 1);
$client->push('delayed', [1], delay: 3600);
$client->push('delayed', [1], delay: '1h');
same('a delay', 0, $drain('delayed'));
$first = $client->push('first', [1]);
$client->push('second', [2], after: $first);
same('a job waits for another', 0, $drain('second'));
same('... and is handed out when that is done', [1, 1], [$drain('first'), $drain('second')]);
for ($number = 0; $number < 7; $number++) {
    $client->push('several', [$number]);
}
same('at most so many', 5, $drain('several', max: 3, limit: 5));
same('the rest stays', 2, $drain('several'));

if (function_exists('pcntl_signal')) {
    for ($number = 0; $number < 3; $number++) {
        $client->push('signals', [$number]);
    }
    same('SIGTERM: the current job is done, then it stops', 1, $client->work('signals', fn () => posix_kill(getmypid(), SIGTERM), max: 3));
    same('what it had is free at once', 2, $drain('signals'));
    same('the handler is as before', SIG_DFL, pcntl_signal_get_handler(SIGTERM));
} else {
    echo "left out: signals: this PHP has no pcntl\n";
}

same("the daemon's own words", 'parameter', kind(fn () => $client->push('q', [1], delay: 'soon')));
$error = thrown(fn () => $client->pushBytes('q', '{"user":{"id":}}', format: 'json'));
same('of a payload, with the place and the code', ['malformed', '$.user.id', 14, 400], [$error->kind, $error->path, $error->offset, $error->status]);
same('a job once more', [$id], $of($client->replay($id), 'replay_of'));

$order = new Order(1, "\u{263a}");
$object = $client->store($order, key: 'first', expires: '1h');
check('an object is stored and fetched', $client->fetch($object) == $order);
check('... by its key', $client->fetchNamed('first') == $order);
same('there is none', null, $client->fetchNamed('second'));
same('a key is taken', 'taken', kind(fn () => $client->store($order, key: 'first')));
same('the same id is the same object', $object, $client->store($order, key: 'first', id: $object));
$ids = [$object];
for ($number = 0; $number < 5; $number++) {
    $ids[] = $client->store([$number]);
}
$ids[] = $gadget = $client->store($hostile);
$ids[] = $client->storeBytes("\x04\x08[\x06", format: 'marshal');
$ids[] = $client->store(new Picky());
[$records, $objects] = [[], []];
foreach ($client->each(page: 3) as $record => $found) {
    [$records[], $objects[]] = [$record, $found];
}
same('all are visited, in order', $ids, array_map(fn ($record) => $record->id, $records));
check('with their objects', $objects == [$order, [0], [1], [2], [3], [4], null, null, null]);
$record = $records[0];
same('and what is known of them', ['first', 'php', 'Order', 64, strlen($record->bytes), null], [$record->key, $record->format, $record->class, strlen($record->checksum), $record->size, $record->problem]);
check('their times', abs($record->expiresAt - $record->storedAt - 3_600_000) < 5000);
check('one that is not allowed is told with the reason', str_contains((string) $records[6]->problem, 'Gadget'));
check('and one that is damaged', str_contains((string) $records[7]->problem, 'too early'));
same('and one whose hook throws', 'not like this', $records[8]->problem);
same('nothing of it ran', 0, Gadget::$ran);
same('of a class', 1, iterator_count($client->each(class: 'Order')));
same('those with a problem', 1, iterator_count($client->each(problem: true)));
same('behind a sequence', $ids[1], $client->each(after: $record->sequence)->key()->id);
same('removed', [true, false, null], [$client->remove($object), $client->remove($object), $client->fetch($object)]);
same('fetch throws as decode does', Icecore\ClassException::class, thrown(fn () => $client->fetch($gadget))::class);

if (function_exists('pcntl_fork')) {
    $child = pcntl_fork();
    if ($child === 0) {
        $client->push('forked', ['child']);
        posix_kill(getmypid(), SIGKILL);
    }
    $client->push('forked', ['parent']);
    pcntl_waitpid($child, $status);
    same('a process that was forked has a connection of its own', 2, $drain('forked'));
}
$daemon->stop();
same('nobody is there', 'away', kind(fn () => (new Client($daemon->url, patience: 0.2))->push('q', [1])));
$daemon->startIn(0.4);
check('a push waits for the daemon', (new Client($daemon->url, patience: 20))->push('later', [1]) !== '');
same('and a worker', 1, $client->work('later', fn () => 1, limit: 1, log: fn () => null));

$guarded = new Daemon('secret');
same('a token is needed', 'token', kind(fn () => (new Client($guarded->url))->push('q', [1])));
same('also to work: that does not get better by waiting', 'token', kind(fn () => (new Client($guarded->url))->work('q', fn () => 1)));
check('and taken', (new Client("$guarded->url/", 'secret'))->push('q', [1]) !== '');
putenv("ICECORE_URL=$guarded->url");
putenv('ICECORE_TOKEN=secret');
check('also from the environment', (new Client())->push('q', [1]) !== '');
putenv('ICECORE_TOKEN');
$file = tempnam(sys_get_temp_dir(), 'icecore');
file_put_contents($file, "secret\n");
check('and from a file', (new Client(tokenFile: $file))->push('q', [1]) !== '');
unlink($file);
Gadget::$isMine = true;
finish();
