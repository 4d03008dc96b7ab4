<?php

declare(strict_types=1);

namespace Icecore;

use Icecore\Client\Connection;
use Icecore\Client\Job;
use Icecore\Client\Plain;
use Icecore\Client\Record;
use Icecore\Client\Requests;
use Icecore\Client\Worker;

foreach (['ClientException', 'Client/Connection', 'Client/Job', 'Client/Plain', 'Client/Record', 'Client/Requests', 'Client/Worker'] as $file) {
    require_once __DIR__ . "/$file.php";
}

/**
 * Jobs and objects of a daemon (`icecore serve`), frozen and restored by the extension.
 *
 *     $client = new Icecore\Client('http://127.0.0.1:7340', classes: ['Order']);
 *     $client->push('mail', $order, delay: 60);
 *     $client->work('mail', fn (Icecore\Client\Job $job) => send($job->value));
 *     $client->store($order, key: 'order-7', expires: '30d');
 *     foreach ($client->each() as $record => $order) { ... }
 *
 * `classes` is that of the extension's functions. `format` is the format of frozen values: `php`
 * by default, or `igbinary`, `json` (plain data), or another one. If `classes` or `format` is
 * `null` in a call, the client's value is used.
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
     * @param float $patience for how many seconds a repeatable request is repeated while the
     * daemon is away
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
        $token ??= $tokenFile === null ? self::said('ICECORE_TOKEN') : self::firstLine($tokenFile);
        $url ??= self::said('ICECORE_URL') ?? 'http://127.0.0.1:7340';
        $this->requests = new Requests(new Connection($url, $token, $timeout, $longest), $patience);
    }

    // -- Jobs ------------------------------------------------------------------

    /**
     * Queues a job; returns its id when it is durable. The id is made here, and sent again if a
     * connection breaks, so a repeated push is one job.
     *
     * @param int|float|string $delay seconds, or `5m`
     * @param ?string $unique a key that is unique among the unfinished jobs of the queue
     * @param ?string $after the id of a job: this one is handed out when that one is done
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
        return $this->pushBytes($queue, self::frozen($value, $format), $priority, $delay, $unique, $maxAttempts, self::bare($format), $id, $after);
    }

    /** The same with frozen bytes. Without a format the daemon detects it. */
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
            'queue' => self::named($queue), 'priority' => $priority, 'delay' => $delay, 'unique' => $unique, 'max_attempts' => $maxAttempts,
            'after' => $after,
        ]);
    }

    /**
     * Calls the function with each job, in turn. Its result is stored as the result of the job,
     * if it is plain data that JSON can express; if it throws, the job is tried again later, and
     * is dead after its attempts. A job that can't be restored is treated in the same way,
     * without a call.
     *
     * It ends after the current job when the process gets SIGTERM or SIGINT (if PHP has pcntl),
     * and waits while the daemon is away. Leases are not extended automatically: a lease has to
     * be longer than a job takes, or the function calls `$job->extend()` now and then; otherwise
     * another worker gets the job, too.
     *
     * @param callable(Job): mixed $do
     * @param float $lease for how many seconds a job belongs to this worker
     * @param int $max how many jobs are fetched at once
     * @param float $wait how many seconds one request waits for a job
     * @param ?int $limit it ends after this many jobs
     * @param bool $drain it ends when there are no jobs
     * @param ?string $worker a name for lists
     * @param ?callable(string): void $log gets a line of text when the daemon is away or a lease
     * was lost
     * @param string|string[]|null $classes instead of the client's
     * @return int the number of jobs
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
        $thaw = fn (string $bytes, ?string $format): mixed => $this->restored($bytes, $format, $classes);
        $log = $log === null ? static function (string $line): void { error_log($line); } : $log(...);
        $worker ??= gethostname() . ':' . getmypid();
        return (new Worker($this->requests, self::named($queue), $thaw, $lease, $max, $wait, $limit, $drain, $worker, $log))->run($do);
    }

    /**
     * Returns information about a job; null if it does not exist.
     *
     * @return ?array<string, mixed>
     */
    public function job(string $id): ?array
    {
        return self::found(fn () => $this->requests->insist('GET', '/jobs/' . self::name($id)));
    }

    /** Queues a job again; returns the new id. */
    public function replay(string $id): string
    {
        return self::id($this->requests->ask('POST', '/jobs/' . self::name($id) . '/replay'));
    }

    // -- Objects ---------------------------------------------------------------

    /**
     * Stores an object; returns its id when it is durable.
     *
     * @param ?string $key a name that no other object has
     * @param int|float|string|null $expires seconds, or `7d`
     */
    public function store(mixed $object, ?string $key = null, int|float|string|null $expires = null, ?string $format = null, ?string $id = null): string
    {
        $format ??= $this->format;
        return $this->storeBytes(self::frozen($object, $format), $key, $expires, self::bare($format), $id);
    }

    /** The same with frozen bytes. */
    public function storeBytes(string $bytes, ?string $key = null, int|float|string|null $expires = null, ?string $format = null, ?string $id = null): string
    {
        return $this->send('/objects', $bytes, $format, $id, ['key' => $key, 'expires' => $expires]);
    }

    /**
     * Returns the object; null if it does not exist.
     *
     * @param string|string[]|null $classes
     */
    public function fetch(string $id, string|array|null $classes = null): mixed
    {
        $said = self::found(fn () => $this->requests->insist('GET', '/objects/' . self::name($id), self::WHOLE));
        return $said === null ? null : $this->object(Record::of($said), $classes);
    }

    /**
     * Returns the object with this key; null if it does not exist.
     *
     * @param string|string[]|null $classes
     */
    public function fetchNamed(string $key, string|array|null $classes = null): mixed
    {
        $found = self::objects($this->requests->insist('GET', '/objects', self::WHOLE + ['key' => self::named($key)]));
        return $found === [] ? null : $this->object(Record::of($found[0]), $classes);
    }

    /**
     * Yields each object with its record as the key, in the order in which they were stored; one
     * request fetches a page. An object that can't be restored is null, and its record has a
     * problem.
     *
     * @param ?string $class only those with one of this class
     * @param ?bool $problem only those that can't be decoded, or only others
     * @param int $after only those after this sequence
     * @param int $page how many are fetched at once
     * @param string|string[]|null $classes
     * @return \Generator<Record, mixed>
     */
    public function each(?string $class = null, ?bool $problem = null, int $after = 0, int $page = 100, string|array|null $classes = null): \Generator
    {
        do {
            $query = self::WHOLE + ['class' => $class, 'problem' => $problem, 'after' => $after, 'limit' => $page];
            $answer = $this->requests->insist('GET', '/objects', $query);
            foreach (self::objects($answer) as $said) {
                $record = Record::of($said);
                $object = null;
                if ($record->problem === null) {
                    try {
                        $object = $this->object($record, $classes);
                    } catch (\Throwable $error) {
                        $record->problem = $error->getMessage();
                    }
                }
                yield $record => $object;
            }
            // Each page begins after the previous one.
            [$last, $after] = [$after, $answer['next'] ?? null];
            if ($after !== null && (!is_int($after) || $after <= $last)) {
                throw new ClientException('answer', 'the list does not end');
            }
        } while ($after !== null);
    }

    /** Removes an object; returns whether it existed. */
    public function remove(string $id): bool
    {
        return self::found(fn () => $this->requests->ask('DELETE', '/objects/' . self::name($id))) !== null;
    }

    // -- Shared functions ------------------------------------------------------

    private const WHOLE = ['brief' => true, 'bytes' => true];

    /**
     * Sends data that has an id from now on: a repeated request has the same one.
     *
     * @param array<string, mixed> $query
     */
    private function send(string $path, string $bytes, ?string $format, ?string $id, array $query): string
    {
        $type = $format === 'json' ? 'application/json' : 'application/octet-stream';
        return self::id($this->requests->insist('POST', $path, $query + ['format' => $format, 'id' => $id ?? self::uuid()], $bytes, $type));
    }

    /** @param array<string, mixed> $answer */
    private static function id(array $answer): string
    {
        return is_string($answer['id'] ?? null) ? $answer['id'] : throw new ClientException('answer', 'the answer has no id');
    }

    /** @return ?array<string, mixed> */
    private static function found(callable $ask): ?array
    {
        try {
            return $ask();
        } catch (ClientException $error) {
            return $error->status === 404 ? null : throw $error;
        }
    }

    /**
     * @param array<string, mixed> $answer
     * @return list<array<string, mixed>>
     */
    private static function objects(array $answer): array
    {
        return array_values(array_filter(is_array($answer['objects'] ?? null) ? $answer['objects'] : [], is_array(...)));
    }

    private static function frozen(mixed $value, string $format): string
    {
        return match ($format) {
            'php' => serialize($value),
            'json' => Plain::json($value) ?? throw new ClientException('unrepresentable', 'JSON has plain data only'),
            default => encode($value, $format),
        };
    }

    /** @param string|string[]|null $classes */
    private function object(Record $record, string|array|null $classes): mixed
    {
        return $this->restored($record->bytes, $record->format, $classes);
    }

    /** @param string|string[]|null $classes */
    private function restored(string $bytes, ?string $format, string|array|null $classes): mixed
    {
        $classes ??= $this->classes;
        return decode($bytes, $format, $classes === null ? [] : ['classes' => $classes]);
    }

    /** Returns the name of a format without its options, which are for writing. */
    private static function bare(string $format): string
    {
        return preg_replace('~:[^/]*~', '', $format);
    }

    private static function named(string $name): string
    {
        return $name === '' ? throw new ClientException('usage', 'a name is needed') : $name;
    }

    private static function name(string $id): string
    {
        return Requests::escaped(self::named($id));
    }

    private static function said(string $variable): ?string
    {
        $text = getenv($variable);
        return $text === false || $text === '' ? null : $text;
    }

    private static function firstLine(string $file): string
    {
        $text = @file_get_contents($file);
        return $text === false ? throw new ClientException('usage', "$file can't be read") : trim(strtok($text, "\n"));
    }

    /** Returns a UUID of version 7: ids sort by the time of their creation. */
    private static function uuid(): string
    {
        $hex = sprintf('%012x', (int) (microtime(true) * 1000)) . bin2hex(random_bytes(10));
        $hex[12] = '7';
        $hex[16] = dechex(8 | (hexdec($hex[16]) & 3));
        return implode('-', sscanf($hex, '%8s%4s%4s%4s%12s'));
    }
}
