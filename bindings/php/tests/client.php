<?php
// Tests the client with servers that send invalid answers, and with a daemon.
//
//   php -d extension=icecore.so client.php
declare(strict_types=1);

require __DIR__ . '/registration/lib.php';
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

/** A class whose hooks must not run; they count their calls. */
final class Gadget
{
    public static int $calls = 0;

    public function __wakeup(): void
    {
        self::$calls++;
    }

    public function __destruct()
    {
        self::$calls += (int) !self::$isMine;
    }

    /** The objects of the test itself are destroyed, too; these calls are not counted. */
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

/** Returns the kind of the error that a call throws, or `none`. */
function error_kind(callable $call): string
{
    try {
        $call();
        return 'none';
    } catch (Icecore\Exception $error) {
        return $error->kind;
    }
}

const ID = '01990f3a-7b11-7c0e-a1b2-0c4d5e6f7a8b';

// -- Servers that send invalid answers --------------------------------------------

$calls = [
    'push' => fn (Client $client) => $client->push('q', [1]),
    'work' => fn (Client $client) =>
        $client->work('q', fn () => check('the handler is not called', false), drain: true),
    'fetch' => fn (Client $client) => $client->fetch(ID),
    'each' => fn (Client $client) => iterator_count($client->each()),
    'remove' => fn (Client $client) => $client->remove(ID),
];
$part = str_repeat('x', 65536);
$invalid_answers = [
    'an empty connection' => ['', null, 'away'],
    'another protocol' => ["SSH-2.0-OpenSSH\r\n\r\n", null, 'answer'],
    'random bytes' => [random_bytes(1000) . "\r\n\r\n", null, 'answer'],
    'half of the header' => ["HTTP/1.1 200 OK\r\nContent-Le", null, 'away'],
    'half of the body' => ["HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"id\":", null, 'away'],
    'half of a chunk' => ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{\"id\":", null, 'away'],
    'a chunk too long' =>
        ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n", null, 'answer'],
    'chunks without an end' => ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", null, 'away'],
    'a negative chunk' => ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", null, 'answer'],
    'an HTML page' => ["HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>", null, 'answer'],
    'an invalid length' => ["HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{}", null, 'answer'],
    'a negative length' => ["HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}", null, 'answer'],
    'an invalid status code' => ["HTTP/1.1 20 OK\r\n\r\n{}", null, 'answer'],
    'an invalid header line' => ["HTTP/1.1 200 OK\r\nX\r\n\r\n{}", null, 'answer'],
    'an empty answer' => ["HTTP/1.1 204 No Content\r\n\r\n", null, 'answer'],
    'a list' => [FakeServer::ok('[]'), null, 'answer'],
    'a string' => [FakeServer::ok('"x"'), null, 'answer'],
    'a deeply nested value' => [FakeServer::ok('{"id":' . str_repeat('[', 1_000_000 - 10)), null, 'answer'],
    'a redirect' =>
        ["HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", null, 'answer'],
    'status 404 without JSON' => ["HTTP/1.1 404 Not Found\r\nContent-Length: 6\r\n\r\n<html>", null, 'answer'],
    'an error with values of wrong types' =>
        ["HTTP/1.1 400 Bad\r\nContent-Length: 51\r\n\r\n"
        . '{"error":{"kind":[1],"message":{"a":1},"errors":1}}', null, 'answer'],
    'an endless body' => ["HTTP/1.1 200 OK\r\n\r\n", $part, 'too-long'],
    'an endless chunked body' =>
        ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "10000\r\n$part\r\n", 'too-long'],
    'a huge length' => ["HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", $part, 'too-long'],
    'an endless line' => ["HTTP/1.1 200 OK\r\nX: ", $part, 'answer'],
    'endless lines' => ["HTTP/1.1 200 OK\r\n", str_repeat("X: y\r\n", 1000), 'answer'],
    'endless interim answers' => ['', str_repeat("HTTP/1.1 100 Continue\r\n\r\n", 1000), 'answer'],
    'an endless chunk line' => ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", $part, 'answer'],
    'endless trailers' =>
        ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", str_repeat("X: y\r\n", 1000), 'answer'],
];
foreach ($invalid_answers as $name => [$answer, $endless, $expected_kind]) {
    $server = new FakeServer($answer, $endless);
    foreach ($calls as $call => $handler) {
        // A worker waits for a server that it can't reach.
        if ($call === 'work' && $expected_kind === 'away') {
            continue;
        }
        $is_missing = $name === 'status 404 without JSON' && in_array($call, ['fetch', 'remove'], true);
        $kind = $is_missing ? 'none' : $expected_kind;
        same("$name: $call", $kind,
            error_kind(fn () => $handler(new Client($server->url, timeout: 20, patience: 0, longest: 1 << 20))));
    }
}
foreach (['{}', '{"jobs":7,"objects":{}}', '{"jobs":[1,"x",null],"objects":[[],null]}'] as $body) {
    $server = new FakeServer(FakeServer::ok($body));
    same("a claim that returns $body has no jobs", 0,
        (new Client($server->url))->work('q', fn () => null, drain: true));
    same('an answer to push without an id is refused', 'answer',
        error_kind(fn () => (new Client($server->url))->push('q', [1])));
}
foreach (['{"id":"../../objects"}', '{}', '{"id":["x"]}', '{"id":"' . ID . '\n"}'] as $job_json) {
    $server = new FakeServer(FakeServer::ok("{\"jobs\":[$job_json]}"));
    same("an answer whose job has an invalid id is refused: $job_json", 'answer',
        error_kind(fn () => (new Client($server->url))->work('q', fn () => null, drain: true)));
}
foreach (['0', '-1', '"x"', '[]', '1e99'] as $next) {
    $server = new FakeServer(FakeServer::ok('{"objects":[{"id":"' . ID . "\"}],\"next\":$next}"));
    same("each refuses $next as the next page", 'answer',
        error_kind(fn () => iterator_count((new Client($server->url))->each())));
}
foreach (['"bytes":"!!!"', '"bytes":"TzoxOiJHIjowOnt9","format":"nothing"', '"bytes":"Tzo2OiJHYWRnZXQiOjA6e30="',
    '"bytes":null,"format":"php"', '"bytes":7,"format":7'] as $fields_text) {
    $server = new FakeServer(FakeServer::ok('{}'), null,
        FakeServer::ok('{"jobs":[{"id":"' . ID . "\",\"token\":\"t\",$fields_text}]}"));
    same("a job that can't be decoded is returned to the daemon: $fields_text", 1,
        (new Client($server->url))->work('q', fn () => check('the handler is not called', false), limit: 1));
}
$silent_server = stream_socket_server('tcp://127.0.0.1:0');
$silent_url = 'http://' . stream_socket_get_name($silent_server, false);
same('a server that never answers gives the error `away`', 'away',
    error_kind(fn () => (new Client($silent_url, timeout: 0.2, patience: 0))->push('q', [1])));
$server = new FakeServer("HTTP/1.1 400 Bad\r\nContent-Length: 52\r\n\r\n"
    . '{"error":{"kind":"odd","message":"a\u001b[31m b\n"}}');
same('control characters in an error of the daemon are escaped', 'a\u001b[31m b\n',
    thrown(fn () => (new Client($server->url))->push('q', [1]))->getMessage());
same('an empty queue name is refused', 'usage', error_kind(fn () => (new Client())->push('', [1])));
same('a token with a line break is refused', 'usage', error_kind(fn () => new Client(token: "a\r\nX: y")));
foreach (['ftp://x', 'http://a b', "http://a\r\nX: y", 'x', 'http://h/?a=b', 'http://', 'http://a@b'] as $url) {
    same("an invalid address is refused: $url", 'usage', error_kind(fn () => new Client($url)));
}

// -- A daemon --------------------------------------------------------------------

if (Daemon::command() === null) {
    echo "left out: the client with a daemon: the command icecore is not built\n";
    finish();
}
$daemon = new Daemon();
$client = new Client($daemon->url, classes: ['Order', 'Picky']);
$log = [];
$drain = function (string $queue, ?callable $handler = null, mixed ...$more) use ($client, &$log): int {
    $log = [];
    $more += ['drain' => true, 'log' => function (string $line) use (&$log): void { $log[] = $line; }];
    return $client->work($queue, $handler ?? fn () => null, ...$more);
};
$take_job = function (string $queue, mixed ...$more) use ($drain): ?Job {
    $taken = null;
    $drain($queue, function (Job $job) use (&$taken): void { $taken = $job; }, ...$more);
    return $taken;
};
$fields = fn (string $id, string ...$names): array =>
    array_map(fn (string $name) => $client->job($id)[$name] ?? null, $names);

$value = ['to' => "ann\u{e9}", 'list' => [1, null, "\xff\0", 2.5], 'order' => new Order(7)];
$id = $client->push('mail', $value, priority: 3, maxAttempts: 2);
check('push returns the id of the job', preg_match('/\A[0-9a-f]{8}-[0-9a-f]{4}-7/', $id) === 1);
$taken = null;
same('work runs one job', 1,
    $drain('mail', function (Job $job) use (&$taken) { $taken = $job; return ['sent' => 1]; }));
check('the handler receives the value', $taken->value == $value && $taken->value['order'] instanceof Order);
same('the handler receives the id, queue, attempt and format', [$id, 'mail', 1, 'php'],
    [$taken->id, $taken->queue, $taken->attempt, $taken->format]);
same('the finished job has the state and the result', ['done', 3, ['sent' => 1]],
    $fields($id, 'state', 'priority', 'result'));
same('a finished job is not delivered again', 0, $drain('mail'));
same('an unknown job is null', null, $client->job(ID));
same('pushing an id again returns the same job', $id, $client->push('mail', [1], id: $id));
same('pushing the id of a finished job adds no job', 0, $drain('mail'));
$unique = $client->push('mail', [1], unique: 'k');
same('pushing a unique key again returns the same job', $unique, $client->push('mail', [2], unique: 'k'));
$drain('mail');

foreach (['php', 'igbinary', 'json', 'marshal', 'storable', 'sereal'] as $format) {
    $client->push('formats', [1, 'two', ['three' => 4]], format: $format);
    $taken = $take_job('formats');
    same("a value survives the round trip as $format", [[1, 'two', ['three' => 4]], $format],
        [$taken->value, $taken->format]);
}
$client->pushBytes('formats', "\x04\x08[\x06i\x06");
$taken = $take_job('formats');
same('pushBytes sends the bytes unchanged', [[1], 'marshal', "\x04\x08[\x06i\x06"],
    [$taken->value, $taken->format, $taken->bytes]);
same('an object can\'t be pushed as JSON', 'unrepresentable',
    error_kind(fn () => $client->push('formats', new Order(1), format: 'json')));
foreach (['a b&c=d/../e?f#g+%00\\', "Gr\u{fc}\u{df}e \u{1f600}", '..', '%2e'] as $queue) {
    $pushed = $client->push($queue, [1], unique: 'k&queue=other');
    same('a queue name with special characters is kept', [$queue], $fields($pushed, 'queue'));
    same('a queue with special characters delivers its job', 1, $drain($queue));
}
same('a queue name with a line break is refused', 'input', error_kind(fn () => $client->push("q\r\nX: y", [1])));
same('a unique key with a line break is refused', 'input',
    error_kind(fn () => $client->push('q', [1], unique: "\r\n\r\n")));

$id = $client->push('fails', [1], maxAttempts: 1);
same('work continues after an exception of the handler', 1,
    $drain('fails', fn () => throw new RuntimeException('no such user')));
same('a job whose handler threw is dead, with the message', ['dead', 'RuntimeException: no such user'],
    $fields($id, 'state', 'error'));
foreach ([new Error("\xff\xfe"), new Exception(str_repeat('y', 10_000)), new TypeError()] as $error) {
    $id = $client->push('fails', [1], maxAttempts: 1);
    $drain('fails', fn () => throw $error);
    same('a job is dead after ' . $error::class, ['dead'], $fields($id, 'state'));
}

Gadget::$isMine = true;
$hostile = [new Gadget()];
$id = $client->push('hostile', $hostile, maxAttempts: 1);
$second = $client->push('hostile', [1]);
$worked = [];
same('a refused payload does not stop the worker', 2,
    $drain('hostile', function (Job $job) use (&$worked): void { $worked[] = $job->id; }));
same('the handler is not called with a refused payload', [$second], $worked);
check('a job with a refused payload is dead, with the class in the message', $fields($id, 'state') === ['dead']
    && str_contains($client->job($id)['error'], 'Gadget'), error: $client->job($id)['error'] ?? '');
$id = $client->pushBytes('hostile', "\x04\x08[\x06", maxAttempts: 1);
$drain('hostile');
same('a job with truncated bytes is dead', ['dead'], $fields($id, 'state'));
same('no hook of a refused class ran in the worker', 0, Gadget::$calls);
$id = $client->push('hostile', [new Picky()], maxAttempts: 1);
$drain('hostile');
same('a job whose hook throws is dead, with the message', ['dead', 'LogicException: not like this'],
    $fields($id, 'state', 'error'));

$deep_array = [];
for ($level = 0; $level < 200; $level++) {
    $deep_array = [$deep_array];
}
$cyclic_array = [];
$cyclic_array[0] = &$cyclic_array;
$with_json_hook = new class () implements JsonSerializable {
    public function jsonSerialize(): mixed
    {
        check('jsonSerialize of a result is not called', false);
        return 1;
    }
};
foreach ([new Order(1), fn () => 1, null, NAN, "\xff", $deep_array, $cyclic_array, $with_json_hook, [$with_json_hook],
    ["\xff" => 1]] as $result) {
    $id = $client->push('results', [1]);
    $drain('results', fn () => $result);
    same('a result that is not plain data is not stored: ' . get_debug_type($result), ['done', null],
        $fields($id, 'state', 'result'));
}
foreach ([0, 'text', [], [['a' => null]], 1.0, true] as $result) {
    $id = $client->push('results', [1]);
    $drain('results', fn () => $result);
    same('a plain result is stored: ' . json_encode($result), [$result], $fields($id, 'result'));
}

// Leases.
$lose_lease = function (Job $job): void {
    $job->extend(0.1);
    usleep(200_000);
};
$id = $client->push('leases', [1]);
$drain('leases', function (Job $job): void {
    $job->extend(600);
    check('extend extends the lease', $job->left() > 500);
});
$id = $client->push('leases', [1]);
$drain('leases', function (Job $job) use ($lose_lease, $client) {
    $lose_lease($job);
    $client->work('leases', fn () => 2, drain: true);
    return 1;
});
same('a worker that lost the lease can\'t finish the job', ['done', 2, 2],
    $fields($id, 'state', 'result', 'attempts'));
check('a worker that lost the lease logs the error', count($log) === 1
    && str_starts_with($log[0], "job $id: ack: "), log: $log);
$client->push('leases', [1]);
$drain('leases', function (Job $job) use ($lose_lease): void {
    $lose_lease($job);
    same('an expired lease can\'t be extended', 'lease', error_kind(fn () => $job->extend()));
}, limit: 1);
$client->push('delayed', [1], delay: 3600);
$client->push('delayed', [1], delay: '1h');
same('a delayed job is not delivered yet', 0, $drain('delayed'));
$first = $client->push('first', [1]);
$client->push('second', [2], after: $first);
same('a job waits for the job that it follows', 0, $drain('second'));
same('a job is delivered after the job that it follows', [1, 1], [$drain('first'), $drain('second')]);
for ($number = 0; $number < 7; $number++) {
    $client->push('several', [$number]);
}
same('work stops at the limit', 5, $drain('several', max: 3, limit: 5));
same('jobs beyond the limit stay in the queue', 2, $drain('several'));

if (function_exists('pcntl_signal')) {
    for ($number = 0; $number < 3; $number++) {
        $client->push('signals', [$number]);
    }
    same('after SIGTERM the worker finishes the current job and stops', 1,
        $client->work('signals', fn () => posix_kill(getmypid(), SIGTERM), max: 3));
    same('after SIGTERM the other claimed jobs are free at once', 2, $drain('signals'));
    same('work restores the signal handler', SIG_DFL, pcntl_signal_get_handler(SIGTERM));
} else {
    echo "left out: signals: this PHP has no pcntl\n";
}

same("the kind of the daemon's error is passed on", 'parameter',
    error_kind(fn () => $client->push('q', [1], delay: 'soon')));
$error = thrown(fn () => $client->pushBytes('q', '{"user":{"id":}}', format: 'json'));
same('an error about a payload has its path, offset and status', ['malformed', '$.user.id', 14, 400],
    [$error->kind, $error->path, $error->offset, $error->status]);
same('replay makes a new job from an old one', [$id], $fields($client->replay($id), 'replay_of'));

$order = new Order(1, "\u{263a}");
$object = $client->store($order, key: 'first', expires: '1h');
check('fetch returns the object that was stored', $client->fetch($object) == $order);
check('fetchNamed returns the object by its key', $client->fetchNamed('first') == $order);
same('an unknown key gives null', null, $client->fetchNamed('second'));
same('storing under a key that is in use is refused', 'taken',
    error_kind(fn () => $client->store($order, key: 'first')));
same('storing an id again returns the same object', $object, $client->store($order, key: 'first', id: $object));
$ids = [$object];
for ($number = 0; $number < 5; $number++) {
    $ids[] = $client->store([$number]);
}
$ids[] = $gadget = $client->store($hostile);
$ids[] = $client->storeBytes("\x04\x08[\x06", format: 'marshal');
$ids[] = $client->store(new Picky());
[$records, $objects] = [[], []];
foreach ($client->each(page: 3) as $record => $object_or_null) {
    [$records[], $objects[]] = [$record, $object_or_null];
}
same('each visits all objects in order', $ids, array_map(fn ($record) => $record->id, $records));
check('each decodes the objects', $objects == [$order, [0], [1], [2], [3], [4], null, null, null]);
$record = $records[0];
same('a record has the key, format, class, checksum and size',
    ['first', 'php', 'Order', 64, strlen($record->bytes), null],
    [$record->key, $record->format, $record->class, strlen($record->checksum), $record->size, $record->problem]);
check('a record has its expiry', abs($record->expiresAt - $record->storedAt - 3_600_000) < 5000);
check('a record of a refused class has the class as its problem',
    str_contains((string) $records[6]->problem, 'Gadget'));
check('a record with truncated bytes has a problem', str_contains((string) $records[7]->problem, 'too early'));
same('a record whose hook throws has the message as its problem', 'not like this', $records[8]->problem);
same('no hook of a refused class ran in each', 0, Gadget::$calls);
same('each can filter by class', 1, iterator_count($client->each(class: 'Order')));
same('each can filter by problems', 1, iterator_count($client->each(problem: true)));
same('each can continue after a sequence number', $ids[1], $client->each(after: $record->sequence)->key()->id);
same('remove returns true only once', [true, false, null],
    [$client->remove($object), $client->remove($object), $client->fetch($object)]);
same('fetch of a refused class throws a ClassException', Icecore\ClassException::class,
    thrown(fn () => $client->fetch($gadget))::class);

if (function_exists('pcntl_fork')) {
    $child = pcntl_fork();
    if ($child === 0) {
        $client->push('forked', ['child']);
        posix_kill(getmypid(), SIGKILL);
    }
    $client->push('forked', ['parent']);
    pcntl_waitpid($child, $status);
    same('a forked process has a connection of its own', 2, $drain('forked'));
}
$daemon->stop();
same('a stopped daemon gives the error `away`', 'away',
    error_kind(fn () => (new Client($daemon->url, patience: 0.2))->push('q', [1])));
$daemon->startIn(0.4);
check('a push waits for the daemon', (new Client($daemon->url, patience: 20))->push('later', [1]) !== '');
same('a worker waits for the daemon', 1, $client->work('later', fn () => 1, limit: 1, log: fn () => null));

$token_daemon = new Daemon('secret');
same('push without a token is refused', 'token',
    error_kind(fn () => (new Client($token_daemon->url))->push('q', [1])));
same('work without a token is refused at once', 'token',
    error_kind(fn () => (new Client($token_daemon->url))->work('q', fn () => 1)));
same('an empty file contains no token', 'usage',
    error_kind(fn () => (new Client($token_daemon->url, tokenFile: '/dev/null'))->push('q', [1])));
check('the token in the constructor is used', (new Client("$token_daemon->url/", 'secret'))->push('q', [1]) !== '');
putenv("ICECORE_URL=$token_daemon->url");
putenv('ICECORE_TOKEN=secret');
check('the token in the environment is used', (new Client())->push('q', [1]) !== '');
putenv('ICECORE_TOKEN');
$file = tempnam(sys_get_temp_dir(), 'icecore');
file_put_contents($file, "secret\n");
check('the token in a file is used', (new Client(tokenFile: $file))->push('q', [1]) !== '');
unlink($file);
Gadget::$isMine = true;
finish();
