<?php

declare(strict_types=1);

namespace Icecore\Client;

use Icecore\ClientException;

/**
 * A connection to the daemon by HTTP/1.1, which is kept open between requests. It limits the size of
 * answers and the time. It needs no extension, except PHP's openssl for https.
 *
 * @internal
 */
final class Connection
{
    /** Time in seconds for which the connection is reused. The daemon closes it after 20. */
    private const MAX_IDLE = 15.0;
    /** Size limits in bytes: for the headers of an answer, and for the line before a chunk. */
    private const MAX_HEADERS = 64 << 10;
    private const MAX_CHUNK_LINE = 1 << 10;

    private readonly string $target;
    private readonly string $host;
    private readonly string $base;
    /** @var ?resource */
    private $stream = null;
    private float $usedAt = 0.0;
    /** The process that opened the connection. */
    private int $process = 0;
    private string $buffer = '';
    /** When the current request times out. */
    private float $deadline = 0.0;
    /** PHP's first warning in this request. */
    private string $warning = '';

    public function __construct(
        private readonly string $url,
        private readonly ?string $token,
        private readonly float $timeout,
        private readonly int $longest,
    ) {
        $parts = preg_match('~\Ahttps?://[\x21-\x7e]+\z~', $url) === 1 ? parse_url($url) : false;
        $hasUnsupported = isset($parts['query']) || isset($parts['fragment']) || isset($parts['user']);
        if ($parts === false || !isset($parts['host']) || $hasUnsupported) {
            throw new ClientException('usage', "not an address of a daemon: $url");
        }
        if ($token !== null && preg_match('/\A[\x21-\x7e]+\z/', $token) !== 1) {
            throw new ClientException('usage', 'a token has visible characters of ASCII only');
        }
        $isTls = $parts['scheme'] === 'https';
        $port = $parts['port'] ?? ($isTls ? 443 : 80);
        $this->target = ($isTls ? 'tls' : 'tcp') . "://{$parts['host']}:$port";
        $this->host = "{$parts['host']}:$port";
        $this->base = rtrim($parts['path'] ?? '', '/');
    }

    /**
     * Sends a request, and returns its answer.
     *
     * @param float $extraTime time in seconds that the answer may take in addition to the timeout
     * @return array{int, array<string, string>, string} status code, headers, body
     */
    public function request(string $method, string $path, ?string $body, string $type, float $extraTime): array
    {
        $this->deadline = microtime(true) + $this->timeout + $extraTime;
        $head = ["$method {$this->base}$path HTTP/1.1", "Host: {$this->host}", 'User-Agent: icecore-php'];
        if ($this->token !== null) {
            $head[] = "Authorization: Bearer {$this->token}";
        }
        if ($body !== null) {
            array_push($head, "Content-Type: $type", 'Content-Length: ' . strlen($body));
        }
        // PHP's warnings about sockets are not shown to the program.
        $this->warning = '';
        set_error_handler(function (int $level, string $message): bool {
            $this->warning = $this->warning === '' ? $message : $this->warning;
            return true;
        });
        try {
            $this->open();
            $this->send(implode("\r\n", $head) . "\r\n\r\n" . $body);
            [$code, $headers] = $this->readHeaders();
            $answer = $this->readBody($code, $headers);
            $isKept = strtolower($headers['connection'] ?? '') !== 'close' && ($headers[':version'] ?? '') === '1.1'
                && $this->buffer === '';
            $this->usedAt = microtime(true);
            if (!$isKept || (!isset($headers['content-length']) && !isset($headers['transfer-encoding']))) {
                $this->close();
            }
            return [$code, $headers, $answer];
        } catch (\Throwable $error) {
            $this->close();
            throw $error;
        } finally {
            restore_error_handler();
        }
    }

    /** Opens the connection, unless an open one can be reused. */
    private function open(): void
    {
        if ($this->process !== getmypid()) {
            // After a fork, the connection belongs to the parent process.
            $this->stream = null;
        }
        if ($this->stream !== null) {
            $readable = [$this->stream];
            $none = null;
            // An idle connection that can be read from is about to be closed by the server.
            $isFresh = microtime(true) - $this->usedAt < self::MAX_IDLE;
            if ($isFresh && stream_select($readable, $none, $none, 0, 0) === 0) {
                return;
            }
            $this->close();
        }
        $this->buffer = '';
        $stream = stream_socket_client($this->target, $code, $reason, $this->timeout);
        if ($stream === false) {
            throw new ClientException('away', "{$this->url}: " . ($reason === '' ? $this->warning : $reason));
        }
        stream_set_blocking($stream, false);
        $this->stream = $stream;
        $this->process = getmypid();
    }

    private function close(): void
    {
        if ($this->stream !== null) {
            fclose($this->stream);
        }
        $this->stream = null;
    }

    private function send(string $bytes): void
    {
        for ($offset = 0; $offset < strlen($bytes);) {
            $sent = fwrite($this->stream, $offset === 0 ? $bytes : substr($bytes, $offset, 1 << 20));
            if ($sent === false) {
                // The server may answer and close before it has read the whole request.
                return;
            }
            $offset += $sent;
            if ($sent === 0) {
                $this->wait(false);
            }
        }
    }

    /** Waits until the stream can be read from, or written to. */
    private function wait(bool $toRead): void
    {
        do {
            $remaining = $this->deadline - microtime(true);
            if ($remaining <= 0) {
                throw new ClientException('away', "{$this->url}: no answer in time");
            }
            $read = $toRead ? [$this->stream] : null;
            $write = $toRead ? null : [$this->stream];
            $none = null;
            // A signal ends the wait early. Then it is repeated.
            $seconds = (int) $remaining;
            $ready = stream_select($read, $write, $none, $seconds, (int) (($remaining - $seconds) * 1e6));
        } while ($ready === false || $ready === 0);
    }

    /** Reads available bytes into the buffer, and waits for some. Returns false at the end. */
    private function fill(): bool
    {
        while (true) {
            $bytes = fread($this->stream, 65536);
            if (is_string($bytes) && $bytes !== '') {
                $this->buffer .= $bytes;
                return true;
            }
            if ($bytes === false || feof($this->stream)) {
                return false;
            }
            $this->wait(true);
        }
    }

    private function brokenConnection(): ClientException
    {
        return new ClientException('away', "{$this->url}: the connection broke");
    }

    private function invalidAnswer(string $reason): ClientException
    {
        return new ClientException('answer', "{$this->url} is not an Icecore daemon: $reason");
    }

    /** Removes the text up to `$end` from the buffer, and returns it without `$end`. */
    private function readUntil(string $end, int $maxLength): string
    {
        $from = 0;
        while (($offset = strpos($this->buffer, $end, $from)) === false) {
            if (strlen($this->buffer) > $maxLength) {
                throw $this->invalidAnswer('a line that does not end');
            }
            $from = max(0, strlen($this->buffer) - strlen($end));
            if (!$this->fill()) {
                throw $this->brokenConnection();
            }
        }
        $taken = substr($this->buffer, 0, $offset);
        $this->buffer = substr($this->buffer, $offset + strlen($end));
        return $taken;
    }

    /**
     * Reads the status code and the headers. Skips interim answers, whose code begins with 1.
     *
     * @return array{int, array<string, string>}
     */
    private function readHeaders(): array
    {
        for ($read = 0; $read < self::MAX_HEADERS; $read += strlen($text)) {
            // The first bytes show if this is HTTP at all.
            if (strlen($this->buffer) < 5 && !$this->fill()) {
                throw $this->brokenConnection();
            }
            if (!str_starts_with($this->buffer, substr('HTTP/', 0, strlen($this->buffer)))) {
                throw $this->invalidAnswer('it does not speak HTTP');
            }
            $text = $this->readUntil("\r\n\r\n", self::MAX_HEADERS);
            $lines = explode("\r\n", $text);
            if (preg_match('~\AHTTP/(1\.[01]) ([1-9][0-9]{2})(?: |\z)~', array_shift($lines), $found) !== 1) {
                throw $this->invalidAnswer('it does not speak HTTP');
            }
            if ($found[2][0] !== '1') {
                return [(int) $found[2], $this->parseHeaders($lines) + [':version' => $found[1]]];
            }
            $text .= "\r\n\r\n";
        }
        throw $this->invalidAnswer('it sends too many interim answers');
    }

    /**
     * Parses the lines of headers.
     *
     * @param list<string> $lines
     * @return array<string, string> by their names in lower case
     */
    private function parseHeaders(array $lines): array
    {
        $headers = [];
        foreach ($lines as $line) {
            if (preg_match('/\A([!#$%&\'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*\z/s', $line, $found) !== 1) {
                throw $this->invalidAnswer('an invalid header');
            }
            $headers[strtolower($found[1])] = $found[2];
        }
        return $headers;
    }

    /**
     * Reads the body.
     *
     * @param array<string, string> $headers
     */
    private function readBody(int $code, array $headers): string
    {
        if ($code === 204 || $code === 304) {
            return '';
        }
        if (isset($headers['transfer-encoding'])) {
            if (strtolower($headers['transfer-encoding']) !== 'chunked') {
                throw $this->invalidAnswer('an unknown Transfer-Encoding');
            }
            return $this->readChunks();
        }
        if (isset($headers['content-length'])) {
            if (preg_match('/\A[0-9]{1,18}\z/', $headers['content-length']) !== 1) {
                throw $this->invalidAnswer('an invalid length');
            }
            return $this->readBytes((int) $headers['content-length'], 0);
        }
        while ($this->fill()) {
            $this->checkLength(strlen($this->buffer));
        }
        [$body, $this->buffer] = [$this->buffer, ''];
        return $body;
    }

    private function readChunks(): string
    {
        $body = '';
        do {
            $line = $this->readUntil("\r\n", self::MAX_CHUNK_LINE);
            if (preg_match('/\A([0-9A-Fa-f]{1,15})(?:[ \t]*;.*)?\z/s', $line, $found) !== 1) {
                throw $this->invalidAnswer('a chunk without a length');
            }
            $length = (int) hexdec($found[1]);
            $body .= $this->readBytes($length, strlen($body));
            // The last chunk may be followed by more headers.
            while (($rest = $this->readUntil("\r\n", self::MAX_CHUNK_LINE)) !== '') {
                if ($length > 0 || ($more = ($more ?? 0) + strlen($rest)) > self::MAX_HEADERS) {
                    throw $this->invalidAnswer('a chunk that is too long');
                }
            }
        } while ($length > 0);
        return $body;
    }

    /** Reads exactly `$length` bytes, after `$before` bytes of the same body. */
    private function readBytes(int $length, int $before): string
    {
        $this->checkLength($before + $length);
        while (strlen($this->buffer) < $length) {
            if (!$this->fill()) {
                throw $this->brokenConnection();
            }
        }
        $taken = substr($this->buffer, 0, $length);
        $this->buffer = substr($this->buffer, $length);
        return $taken;
    }

    /** Throws if a body of this length is too long. */
    private function checkLength(int $length): void
    {
        if ($length > $this->longest) {
            throw new ClientException('too-long', "the answer has more than {$this->longest} bytes");
        }
    }
}
