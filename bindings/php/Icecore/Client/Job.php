<?php

declare(strict_types=1);

namespace Icecore\Client;

use Icecore\ClientException;

/**
 * A job that a worker holds for a while.
 */
final class Job
{
    public readonly string $id;
    public readonly string $queue;
    public readonly int $attempt;
    public readonly ?string $format;
    public readonly string $checksum;
    public readonly string $bytes;
    /** The payload, restored. */
    public mixed $value = null;
    private readonly string $token;
    private float $ends;
    private int $leaseUntil;

    /**
     * @internal
     * @param array<string, mixed> $said
     */
    public function __construct(private readonly Requests $requests, array $said, private readonly float $lease, float $asked)
    {
        $text = static fn (string $name): string => is_string($said[$name] ?? null) ? $said[$name] : '';
        $this->id = $text('id');
        if (preg_match('/\A[0-9a-f-]{36}\z/', $this->id) !== 1) {
            throw new ClientException('answer', 'a job without an id');
        }
        $this->queue = $text('queue');
        $this->attempt = is_int($said['attempt'] ?? null) ? $said['attempt'] : 0;
        $this->format = is_string($said['format'] ?? null) ? $said['format'] : null;
        $this->checksum = $text('checksum');
        $this->bytes = base64_decode($text('bytes'));
        $this->token = $text('token');
        $this->ends = $asked + $lease;
        $this->leaseUntil = self::end($said);
    }

    /** @param array<string, mixed> $said */
    private static function end(array $said): int
    {
        return is_int($said['lease_until'] ?? null) ? $said['lease_until'] : 0;
    }

    /** The end of the lease by the clock of the database, in milliseconds since 1970. */
    public function leaseUntil(): int
    {
        return $this->leaseUntil;
    }

    /** The remaining seconds of the lease, by the clock of this machine. */
    public function left(): float
    {
        return $this->ends - Requests::now();
    }

    /**
     * Keeps the job for this many seconds from now on.
     *
     * @throws ClientException of the kind `lease`, if another worker has it already
     */
    public function extend(?float $lease = null): void
    {
        $lease ??= $this->lease;
        $asked = Requests::now();
        $this->leaseUntil = self::end($this->tell('extend', '"lease":' . json_encode($lease)));
        $this->ends = $asked + $lease;
    }

    /**
     * Reports the result of the job. The token is in the body, where no server log shows it.
     *
     * @internal
     * @return array<string, mixed>
     */
    public function tell(string $what, string ...$members): array
    {
        array_unshift($members, '"token":' . json_encode($this->token));
        return $this->requests->tell("/jobs/{$this->id}/$what", '{' . implode(',', $members) . '}');
    }
}
