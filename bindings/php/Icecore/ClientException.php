<?php

declare(strict_types=1);

namespace Icecore;

/**
 * What went wrong between a client and the daemon.
 *
 * `kind` is the daemon's word (`taken`, `lease`, `schema`, ...), or `away` (nobody answers), `answer` (what answers
 * is no daemon), `too-long`, `usage`, `unrepresentable`. `path` and `offset` are those of a payload that was refused.
 */
final class ClientException extends Exception
{
    /**
     * @param int $status the code of the answer; 0 without one
     * @param list<mixed> $errors all that is wrong with a payload, where it is more than one thing
     * @param ?int $retryAfter in how many seconds the daemon wants to be asked again
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
        // What a server says is shown, and does nothing on a terminal.
        $shown = preg_replace_callback('/[\p{Cc}\p{Cf}]/u', static fn ($found) => trim(json_encode($found[0]), '"'), $message);
        parent::__construct($shown ?? 'what the server says is no text');
        foreach (['kind' => $kind, 'path' => $path, 'offset' => $offset] as $name => $value) {
            (new \ReflectionProperty(Exception::class, $name))->setValue($this, $value);
        }
    }

    /** Whether it may go well a little later. */
    public function isPassing(): bool
    {
        return $this->kind === 'away' || $this->status === 408 || $this->status === 429 || $this->status >= 500;
    }
}
