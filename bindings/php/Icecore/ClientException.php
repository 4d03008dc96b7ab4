<?php

declare(strict_types=1);

namespace Icecore;

/**
 * An error between a client and the daemon.
 *
 * `kind` is the daemon's word (`taken`, `lease`, `schema`, ...), or `away` (no answer), `answer`
 * (the answer is not from a daemon), `too-long`, `usage`, `unrepresentable`. `path` and `offset`
 * are those of a refused payload.
 */
final class ClientException extends Exception
{
    /**
     * @param int $status the status code of the answer; 0 without one
     * @param list<mixed> $errors all errors of a payload, if there are several
     * @param ?int $retryAfter in how many seconds the daemon wants the next request
     */
    public function __construct(
        string $kind,
        string $message,
        public readonly int $status = 0,
        string $path = '',
        ?int $offset = null,
        public readonly array $errors = [],
        public readonly ?int $retryAfter = null,
    ) {
        // Text from a server is shown, but must not control a terminal.
        $shown = preg_replace_callback('/[\p{Cc}\p{Cf}]/u', static fn ($found) => trim(json_encode($found[0]), '"'), $message);
        parent::__construct($shown ?? 'the message of the server is not text');
        foreach (['kind' => $kind, 'path' => $path, 'offset' => $offset] as $name => $value) {
            (new \ReflectionProperty(Exception::class, $name))->setValue($this, $value);
        }
    }

    /** Whether the request may succeed a little later. */
    public function isPassing(): bool
    {
        return $this->kind === 'away' || $this->status === 408 || $this->status === 429 || $this->status >= 500;
    }
}
