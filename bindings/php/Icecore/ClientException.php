<?php

declare(strict_types=1);

namespace Icecore;

/**
 * An error of a request to the daemon.
 *
 * `kind` is the kind in the daemon's answer (`taken`, `lease`, `schema`, ...), or `away` (no answer),
 * `answer` (the answer is not from a daemon), `too-long`, `usage`, `unrepresentable`. `path` and
 * `offset` are those of a refused payload.
 */
final class ClientException extends Exception
{
    /**
     * @param int $status the status code of the answer; 0 if there is none
     * @param list<mixed> $errors all errors of a payload, if there are several
     * @param ?int $retryAfter time in seconds after which the daemon accepts the next request
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
        // Text from a server must not control a terminal, so control characters are escaped.
        $escape = static fn ($match) => trim(json_encode($match[0]), '"');
        $shown = preg_replace_callback('/[\p{Cc}\p{Cf}]/u', $escape, $message);
        parent::__construct($shown ?? 'the message of the server is not text');
        foreach (['kind' => $kind, 'path' => $path, 'offset' => $offset] as $name => $value) {
            (new \ReflectionProperty(Exception::class, $name))->setValue($this, $value);
        }
    }

    /** Returns true if the same request may succeed a little later. */
    public function isPassing(): bool
    {
        return $this->kind === 'away' || $this->status === 408 || $this->status === 429 || $this->status >= 500;
    }
}
