<?php

declare(strict_types=1);

namespace Icecore;

use Icecore\Client\Connection;
use Icecore\Client\Job;
use Icecore\Client\Plain;
use Icecore\Client\Record;
use Icecore\Client\Requests;
use Icecore\Client\Worker;

foreach (
    ['ClientException', 'Client/Connection', 'Client/Job', 'Client/Plain', 'Client/Record', 'Client/Requests',
        'Client/Worker'] as $file
) {
    require_once __DIR__ . "/$file.php";
}

/**
 * A client of a daemon (`icecore serve`): its jobs and objects. The extension serializes the values.
 *
 *     $client = new Icecore\Client('http://127.0.0.1:7340', classes: ['Order']);
 *     $client->push('mail', $order, delay: 60);
 *     $client->work('mail', fn (Icecore\Client\Job $job) => send($job->value));
 *     $client->store($order, key: 'order-7', expires: '30d');
 *     foreach ($client->each() as $record => $order) { ... }
 *
 * `classes` means the same as in the extension's functions. `format` is the format of the serialized
 * values: `php` by default, or `igbinary`, `json` (plain data), or another one. If `classes` or
 * `format` is `null` in a call, the client's value is used.
 */
final class Client
{
    private readonly Requests $requests;

    /**
     * @param ?string $url default: the environment's ICECORE_URL, or http://127.0.0.1:7340
     * @param ?string $token default: the first line of $tokenFile, or the environment's
     * ICECORE_TOKEN
     * @param string|string[]|null $classes the classes that may be built
     * @param float $timeout time limit of an answer in seconds
     * @param float $patience time in seconds for which a repeatable request is repeated while the daemon
     * can't be reached
     * @param int $longest maximum size of an answer in bytes
     */
    public function __construct(
        ?string $url = null,
        #[\SensitiveParameter] ?string $token = null,
        ?string $tokenFile = null,
        private readonly string|array|null $classes = null,
        private readonly string $format = 'php',
        float $timeout = 30,
        float $patience = 10,
        int $longest = 64 << 20,
    ) {
        $token ??= $tokenFile === null ? self::environment('ICECORE_TOKEN') : self::firstLine($tokenFile);
        $url ??= self::environment('ICECORE_URL') ?? 'http://127.0.0.1:7340';
        $this->requests = new Requests(new Connection($url, $token, $timeout, $longest), $patience);
    }

    // -- Jobs ------------------------------------------------------------------

    /**
     * Queues a job, and returns its id when the job is durable. The client makes the id, and sends it
     * again if the connection breaks, so a repeated request does not make a second job.
     *
     * @param int|float|string $delay seconds, or `5m`
     * @param ?string $unique a key that is unique among the unfinished jobs of the queue
     * @param ?string $after the id of a job that must be finished before this one is delivered
     */
    public function push(
        string $queue,
        mixed $value,
        ?int $priority = null,
        int|float|string|null $delay = null,
        ?string $unique = null,
        ?int $maxAttempts = null,
        ?string $format = null,
        ?string $id = null,
        ?string $after = null,
    ): string {
        $format ??= $this->format;
        $bytes = self::encodeValue($value, $format);
        $format = self::withoutOptions($format);
        return $this->pushBytes($queue, $bytes, $priority, $delay, $unique, $maxAttempts, $format, $id, $after);
    }

    /** Queues a job with serialized bytes. If $format is null, the daemon detects the format. */
    public function pushBytes(
        string $queue,
        string $bytes,
        ?int $priority = null,
        int|float|string|null $delay = null,
        ?string $unique = null,
        ?int $maxAttempts = null,
        ?string $format = null,
        ?string $id = null,
        ?string $after = null,
    ): string {
        return $this->send('/jobs', $bytes, $format, $id, [
            'queue' => self::requireName($queue), 'priority' => $priority, 'delay' => $delay, 'unique' => $unique,
            'max_attempts' => $maxAttempts, 'after' => $after,
        ]);
    }

    /**
     * Runs jobs: calls the function with one after the other. Its result is stored as the result of the
     * job, if it is plain data that JSON can express. If the function throws, the job is tried again
     * later, and is dead after its last attempt. A job whose value can't be decoded counts as failed,
     * too, and the function is not called.
     *
     * After SIGTERM or SIGINT (if PHP has pcntl), the method returns when the current job is finished.
     * It waits while the daemon can't be reached. Leases are not extended automatically. A lease must be
     * longer than a job takes, or the function must call `$job->extend()` in time; otherwise another
     * worker gets the job, too.
     *
     * @param callable(Job): mixed $do
     * @param float $lease time in seconds for which a job belongs to this worker
     * @param int $max maximum number of jobs that one request fetches
     * @param float $wait time in seconds that one request waits for a job
     * @param ?int $limit maximum number of jobs to run
     * @param bool $drain true to return when the queue has no jobs
     * @param ?string $worker name of the worker in the daemon's lists
     * @param ?callable(string): void $log receives a line of text when the daemon can't be reached or a
     * lease was lost
     * @param string|string[]|null $classes the classes that may be built, instead of the client's
     * @return int the number of jobs that were run
     */
    public function work(
        string $queue,
        callable $do,
        float $lease = 60,
        int $max = 1,
        float $wait = 5,
        ?int $limit = null,
        bool $drain = false,
        ?string $worker = null,
        ?callable $log = null,
        string|array|null $classes = null,
    ): int {
        $decode = fn (string $bytes, ?string $format): mixed => $this->decodeValue($bytes, $format, $classes);
        $log = $log === null ? static function (string $line): void { error_log($line); } : $log(...);
        $worker ??= gethostname() . ':' . getmypid();
        $queue = self::requireName($queue);
        return (new Worker($this->requests, $queue, $decode, $lease, $max, $wait, $limit, $drain, $worker, $log))->run($do);
    }

    /**
     * Returns information about a job; null if it does not exist.
     *
     * @return ?array<string, mixed>
     */
    public function job(string $id): ?array
    {
        return self::nullIfMissing(fn () => $this->requests->sendRepeatedly('GET', '/jobs/' . self::pathPart($id)));
    }

    /** Queues a copy of a job, and returns the id of the copy. */
    public function replay(string $id): string
    {
        return self::answeredId($this->requests->send('POST', '/jobs/' . self::pathPart($id) . '/replay'));
    }

    // -- Objects ---------------------------------------------------------------

    /**
     * Stores an object, and returns its id when the object is durable.
     *
     * @param ?string $key a unique name
     * @param int|float|string|null $expires seconds, or `7d`
     */
    public function store(
        mixed $object,
        ?string $key = null,
        int|float|string|null $expires = null,
        ?string $format = null,
        ?string $id = null,
    ): string {
        $format ??= $this->format;
        $bytes = self::encodeValue($object, $format);
        return $this->storeBytes($bytes, $key, $expires, self::withoutOptions($format), $id);
    }

    /** Stores an object from its serialized bytes. */
    public function storeBytes(
        string $bytes,
        ?string $key = null,
        int|float|string|null $expires = null,
        ?string $format = null,
        ?string $id = null,
    ): string {
        return $this->send('/objects', $bytes, $format, $id, ['key' => $key, 'expires' => $expires]);
    }

    /**
     * Returns the object; null if it does not exist.
     *
     * @param string|string[]|null $classes
     */
    public function fetch(string $id, string|array|null $classes = null): mixed
    {
        $path = '/objects/' . self::pathPart($id);
        $description = self::nullIfMissing(fn () => $this->requests->sendRepeatedly('GET', $path, self::WITH_BYTES));
        return $description === null ? null : $this->decodeRecord(Record::of($description), $classes);
    }

    /**
     * Returns the object with this key; null if it does not exist.
     *
     * @param string|string[]|null $classes
     */
    public function fetchNamed(string $key, string|array|null $classes = null): mixed
    {
        $query = self::WITH_BYTES + ['key' => self::requireName($key)];
        $descriptions = self::answeredObjects($this->requests->sendRepeatedly('GET', '/objects', $query));
        return $descriptions === [] ? null : $this->decodeRecord(Record::of($descriptions[0]), $classes);
    }

    /**
     * Yields each object, with its record as the key, in the order in which they were stored. An object
     * that can't be decoded is null, and its record has the problem.
     *
     * @param ?string $class only objects of this class
     * @param ?bool $problem true for only objects that can't be decoded, false for only others
     * @param int $after only objects with a greater sequence number
     * @param int $page number of objects that one request fetches
     * @param string|string[]|null $classes
     * @return \Generator<Record, mixed>
     */
    public function each(
        ?string $class = null,
        ?bool $problem = null,
        int $after = 0,
        int $page = 100,
        string|array|null $classes = null,
    ): \Generator {
        do {
            $query = ['class' => $class, 'problem' => $problem, 'after' => $after, 'limit' => $page];
            $answer = $this->requests->sendRepeatedly('GET', '/objects', self::WITH_BYTES + $query);
            foreach (self::answeredObjects($answer) as $description) {
                $record = Record::of($description);
                $object = null;
                if ($record->problem === null) {
                    try {
                        $object = $this->decodeRecord($record, $classes);
                    } catch (\Throwable $error) {
                        $record->problem = $error->getMessage();
                    }
                }
                yield $record => $object;
            }
            // Each page must begin after the previous one.
            [$last, $after] = [$after, $answer['next'] ?? null];
            if ($after !== null && (!is_int($after) || $after <= $last)) {
                throw new ClientException('answer', 'the list does not end');
            }
        } while ($after !== null);
    }

    /** Removes an object. Returns true if it existed. */
    public function remove(string $id): bool
    {
        $path = '/objects/' . self::pathPart($id);
        return self::nullIfMissing(fn () => $this->requests->send('DELETE', $path)) !== null;
    }

    // -- Shared functions ------------------------------------------------------

    /** Asks for the bytes of an object, without its readable copy. */
    private const WITH_BYTES = ['brief' => true, 'bytes' => true];

    /**
     * Sends serialized data with an id, which is the same if the request is repeated.
     *
     * @param array<string, mixed> $query
     */
    private function send(string $path, string $bytes, ?string $format, ?string $id, array $query): string
    {
        $type = $format === 'json' ? 'application/json' : 'application/octet-stream';
        $query += ['format' => $format, 'id' => $id ?? self::uuid()];
        return self::answeredId($this->requests->sendRepeatedly('POST', $path, $query, $bytes, $type));
    }

    /**
     * Returns the id in an answer.
     *
     * @param array<string, mixed> $answer
     */
    private static function answeredId(array $answer): string
    {
        $id = $answer['id'] ?? null;
        return is_string($id) ? $id : throw new ClientException('answer', 'the answer has no id');
    }

    /**
     * Makes a request. Returns null if the answer has the status 404.
     *
     * @return ?array<string, mixed>
     */
    private static function nullIfMissing(callable $request): ?array
    {
        try {
            return $request();
        } catch (ClientException $error) {
            return $error->status === 404 ? null : throw $error;
        }
    }

    /**
     * Returns the descriptions of objects in an answer.
     *
     * @param array<string, mixed> $answer
     * @return list<array<string, mixed>>
     */
    private static function answeredObjects(array $answer): array
    {
        $objects = is_array($answer['objects'] ?? null) ? $answer['objects'] : [];
        return array_values(array_filter($objects, is_array(...)));
    }

    private static function encodeValue(mixed $value, string $format): string
    {
        return match ($format) {
            'php' => serialize($value),
            'json' => Plain::json($value) ?? throw new ClientException('unrepresentable', 'JSON has plain data only'),
            default => encode($value, $format),
        };
    }

    /** @param string|string[]|null $classes */
    private function decodeRecord(Record $record, string|array|null $classes): mixed
    {
        return $this->decodeValue($record->bytes, $record->format, $classes);
    }

    /** @param string|string[]|null $classes */
    private function decodeValue(string $bytes, ?string $format, string|array|null $classes): mixed
    {
        $classes ??= $this->classes;
        return decode($bytes, $format, $classes === null ? [] : ['classes' => $classes]);
    }

    /** Returns the name of a format without its options, which are for writing. */
    private static function withoutOptions(string $format): string
    {
        return preg_replace('~:[^/]*~', '', $format);
    }

    /** Returns the name, or throws if it is empty. */
    private static function requireName(string $name): string
    {
        return $name === '' ? throw new ClientException('usage', 'a name is needed') : $name;
    }

    /** Returns an id as a part of a path. */
    private static function pathPart(string $id): string
    {
        return Requests::escape(self::requireName($id));
    }

    /** Returns a variable of the environment; null if it is missing or empty. */
    private static function environment(string $variable): ?string
    {
        $text = getenv($variable);
        return $text === false || $text === '' ? null : $text;
    }

    private static function firstLine(string $file): string
    {
        $text = @file_get_contents($file);
        if ($text === false) {
            throw new ClientException('usage', "$file can't be read");
        }
        return trim(explode("\n", $text, 2)[0]);
    }

    /** Returns a UUID of version 7, which begins with the current time. */
    private static function uuid(): string
    {
        $hex = sprintf('%012x', (int) (microtime(true) * 1000)) . bin2hex(random_bytes(10));
        $hex[12] = '7';
        $hex[16] = dechex(8 | (hexdec($hex[16]) & 3));
        return implode('-', sscanf($hex, '%8s%4s%4s%4s%12s'));
    }
}
