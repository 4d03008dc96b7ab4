<?php

declare(strict_types=1);

namespace Icecore\Client;

use Icecore\ClientException;

/**
 * A job that belongs to a worker until its lease ends.
 */
final class Job
{
    public readonly string $id;
    public readonly string $queue;
    public readonly int $attempt;
    public readonly ?string $format;
    public readonly string $checksum;
    public readonly string $bytes;
    /** The decoded payload. */
    public mixed $value = null;
    private readonly string $token;
    /** The end of the lease by Requests::now(). */
    private float $leaseEnd;
    private int $leaseUntil;

    /**
     * @internal
     * @param array<string, mixed> $description
     */
    public function __construct(
        private readonly Requests $requests,
        array $description,
        private readonly float $lease,
        float $requestedAt,
    ) {
        $text = static fn (string $name): string => is_string($description[$name] ?? null) ? $description[$name] : '';
        $this->id = $text('id');
        if (preg_match('/\A[0-9a-f-]{36}\z/', $this->id) !== 1) {
            throw new ClientException('answer', 'a job without an id');
        }
        $this->queue = $text('queue');
        $this->attempt = is_int($description['attempt'] ?? null) ? $description['attempt'] : 0;
        $this->format = is_string($description['format'] ?? null) ? $description['format'] : null;
        $this->checksum = $text('checksum');
        $this->bytes = base64_decode($text('bytes'));
        $this->token = $text('token');
        $this->leaseEnd = $requestedAt + $lease;
        $this->leaseUntil = self::readLeaseUntil($description);
    }

    /** @param array<string, mixed> $description */
    private static function readLeaseUntil(array $description): int
    {
        return is_int($description['lease_until'] ?? null) ? $description['lease_until'] : 0;
    }

    /** Returns the end of the lease by the clock of the database, in milliseconds since 1970. */
    public function leaseUntil(): int
    {
        return $this->leaseUntil;
    }

    /** Returns the remaining seconds of the lease, by the clock of this machine. */
    public function left(): float
    {
        return $this->leaseEnd - Requests::now();
    }

    /**
     * Extends the lease to this many seconds from now on.
     *
     * @throws ClientException of the kind `lease`, if another worker has it already
     */
    public function extend(?float $lease = null): void
    {
        $lease ??= $this->lease;
        $requestedAt = Requests::now();
        $this->leaseUntil = self::readLeaseUntil($this->send('extend', '"lease":' . json_encode($lease)));
        $this->leaseEnd = $requestedAt + $lease;
    }

    /**
     * Sends a request about the job: `ack`, `nack` or `extend`, with members of a JSON object. The token
     * is in the body, so that no log of a server shows it.
     *
     * @internal
     * @return array<string, mixed>
     */
    public function send(string $action, string ...$members): array
    {
        array_unshift($members, '"token":' . json_encode($this->token));
        return $this->requests->postJson("/jobs/{$this->id}/$action", '{' . implode(',', $members) . '}');
    }
}
