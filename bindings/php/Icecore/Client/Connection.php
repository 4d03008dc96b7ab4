<?php

declare(strict_types=1);

namespace Icecore\Client;

use Icecore\ClientException;

/**
 * A kept connection to the daemon: HTTP/1.1, with limits for bytes and time. It needs no
 * extension, except PHP's openssl for https.
 *
 * @internal
 */
final class Connection
{
    /** For how many seconds it is reused; the daemon closes it after 20. */
    private const KEPT = 15.0;
    /** Size limits in bytes for the head of an answer, and for the line before a chunk. */
    private const LONGEST_HEAD = 64 << 10;
    private const LONGEST_LINE = 1 << 10;

    private readonly string $target;
    private readonly string $host;
    private readonly string $base;
    /** @var ?resource */
    private $stream = null;
    private float $usedAt = 0.0;
    private int $process = 0;
    private string $buffer = '';
    private float $until = 0.0;
    /** PHP's first warning for this request. */
    private string $warning = '';

    public function __construct(
        private readonly string $url,
        private readonly ?string $token,
        private readonly float $timeout,
        private readonly int $longest,
    ) {
        $parts = preg_match('~\Ahttps?://[\x21-\x7e]+\z~', $url) === 1 ? parse_url($url) : false;
        if ($parts === false || !isset($parts['host']) || isset($parts['query']) || isset($parts['fragment']) || isset($parts['user'])) {
            throw new ClientException('usage', "not an address of a daemon: $url");
        }
        if ($token !== null && preg_match('/\A[\x21-\x7e]+\z/', $token) !== 1) {
            throw new ClientException('usage', 'a token has visible characters of ASCII only');
        }
        $isSecret = $parts['scheme'] === 'https';
        $port = $parts['port'] ?? ($isSecret ? 443 : 80);
        $this->target = ($isSecret ? 'tls' : 'tcp') . "://{$parts['host']}:$port";
        $this->host = "{$parts['host']}:$port";
        $this->base = rtrim($parts['path'] ?? '', '/');
    }

    /**
     * @param float $longer how many seconds more than usual the answer may take
     * @return array{int, array<string, string>, string} code, headers, body
     */
    public function request(string $method, string $path, ?string $body, string $type, float $longer): array
    {
        $this->until = microtime(true) + $this->timeout + $longer;
        $head = ["$method {$this->base}$path HTTP/1.1", "Host: {$this->host}", 'User-Agent: icecore-php'];
        if ($this->token !== null) {
            $head[] = "Authorization: Bearer {$this->token}";
        }
        if ($body !== null) {
            array_push($head, "Content-Type: $type", 'Content-Length: ' . strlen($body));
        }
        // PHP's warnings about sockets are not shown to the program.
        $this->warning = '';
        set_error_handler(function (int $level, string $said): bool {
            $this->warning = $this->warning === '' ? $said : $this->warning;
            return true;
        });
        try {
            $this->open();
            $this->send(implode("\r\n", $head) . "\r\n\r\n" . $body);
            [$code, $headers] = $this->head();
            $answer = $this->body($code, $headers);
            $isKept = strtolower($headers['connection'] ?? '') !== 'close' && ($headers[':version'] ?? '') === '1.1' && $this->buffer === '';
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

    private function open(): void
    {
        if ($this->process !== getmypid()) {
            // The connection of the parent process belongs to it.
            $this->stream = null;
        }
        if ($this->stream !== null) {
            $readable = [$this->stream];
            $none = null;
            // If the server sends data on its own, it is about to close the connection.
            if (microtime(true) - $this->usedAt < self::KEPT && stream_select($readable, $none, $none, 0, 0) === 0) {
                return;
            }
            $this->close();
        }
        $this->buffer = '';
        $stream = stream_socket_client($this->target, $code, $why, $this->timeout);
        if ($stream === false) {
            throw new ClientException('away', "{$this->url}: " . ($why === '' ? $this->warning : $why));
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
        for ($at = 0; $at < strlen($bytes);) {
            $sent = fwrite($this->stream, $at === 0 ? $bytes : substr($bytes, $at, 1 << 20));
            if ($sent === false) {
                // A refused request may be answered before all of it was sent.
                return;
            }
            $at += $sent;
            if ($sent === 0) {
                $this->wait(false);
            }
        }
    }

    /** Waits until the stream can be read from, or written to. */
    private function wait(bool $toRead): void
    {
        do {
            $left = $this->until - microtime(true);
            if ($left <= 0) {
                throw new ClientException('away', "{$this->url}: no answer in time");
            }
            $read = $toRead ? [$this->stream] : null;
            $write = $toRead ? null : [$this->stream];
            $none = null;
            // A signal ends the wait early, and is not a reason to give up.
            $ready = stream_select($read, $write, $none, (int) $left, (int) (($left - (int) $left) * 1e6));
        } while ($ready === false || $ready === 0);
    }

    /** Reads the available bytes; false at the end. */
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

    private function brokenOff(): ClientException
    {
        return new ClientException('away', "{$this->url}: the connection broke");
    }

    private function nonsense(string $why): ClientException
    {
        return new ClientException('answer', "{$this->url} is not an Icecore daemon:  $why");
    }

    /** Returns the text up to `$end`, without it. */
    private function upTo(string $end, int $longest): string
    {
        $from = 0;
        while (($at = strpos($this->buffer, $end, $from)) === false) {
            if (strlen($this->buffer) > $longest) {
                throw $this->nonsense('a line that does not end');
            }
            $from = max(0, strlen($this->buffer) - strlen($end));
            if (!$this->fill()) {
                throw $this->brokenOff();
            }
        }
        $taken = substr($this->buffer, 0, $at);
        $this->buffer = substr($this->buffer, $at + strlen($end));
        return $taken;
    }

    /** @return array{int, array<string, string>} */
    private function head(): array
    {
        for ($read = 0; $read < self::LONGEST_HEAD; $read += strlen($text)) {
            // The end of the answer shows if it was one.
            if (strlen($this->buffer) < 5 && !$this->fill()) {
                throw $this->brokenOff();
            }
            if (!str_starts_with($this->buffer, substr('HTTP/', 0, strlen($this->buffer)))) {
                throw $this->nonsense('it does not speak HTTP');
            }
            $text = $this->upTo("\r\n\r\n", self::LONGEST_HEAD);
            $lines = explode("\r\n", $text);
            if (preg_match('~\AHTTP/(1\.[01]) ([1-9][0-9]{2})(?: |\z)~', array_shift($lines), $found) !== 1) {
                throw $this->nonsense('it does not speak HTTP');
            }
            if ($found[2][0] !== '1') {
                return [(int) $found[2], $this->headers($lines) + [':version' => $found[1]]];
            }
            $text .= "\r\n\r\n";
        }
        throw $this->nonsense('it says more and more before it answers');
    }

    /**
     * @param list<string> $lines
     * @return array<string, string>
     */
    private function headers(array $lines): array
    {
        $headers = [];
        foreach ($lines as $line) {
            if (preg_match('/\A([!#$%&\'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*\z/s', $line, $found) !== 1) {
                throw $this->nonsense('a header that is none');
            }
            $headers[strtolower($found[1])] = $found[2];
        }
        return $headers;
    }

    /** @param array<string, string> $headers */
    private function body(int $code, array $headers): string
    {
        if ($code === 204 || $code === 304) {
            return '';
        }
        if (isset($headers['transfer-encoding'])) {
            return strtolower($headers['transfer-encoding']) === 'chunked' ? $this->chunks() : throw $this->nonsense('an unknown Transfer-Encoding');
        }
        if (isset($headers['content-length'])) {
            if (preg_match('/\A[0-9]{1,18}\z/', $headers['content-length']) !== 1) {
                throw $this->nonsense('a length that is none');
            }
            return $this->exactly((int) $headers['content-length'], 0);
        }
        while ($this->fill()) {
            $this->bound(strlen($this->buffer));
        }
        [$body, $this->buffer] = [$this->buffer, ''];
        return $body;
    }

    private function chunks(): string
    {
        $body = '';
        do {
            $line = $this->upTo("\r\n", self::LONGEST_LINE);
            if (preg_match('/\A([0-9A-Fa-f]{1,15})(?:[ \t]*;.*)?\z/s', $line, $found) !== 1) {
                throw $this->nonsense('a chunk without a length');
            }
            $length = (int) hexdec($found[1]);
            $body .= $this->exactly($length, strlen($body));
            // The last chunk may be followed by more headers.
            while (($rest = $this->upTo("\r\n", self::LONGEST_LINE)) !== '') {
                if ($length > 0 || ($more = ($more ?? 0) + strlen($rest)) > self::LONGEST_HEAD) {
                    throw $this->nonsense('a chunk that is too long');
                }
            }
        } while ($length > 0);
        return $body;
    }

    /** Returns exactly `$length` bytes; `$before` bytes of the body were read before. */
    private function exactly(int $length, int $before): string
    {
        $this->bound($before + $length);
        while (strlen($this->buffer) < $length) {
            if (!$this->fill()) {
                throw $this->brokenOff();
            }
        }
        $taken = substr($this->buffer, 0, $length);
        $this->buffer = substr($this->buffer, $length);
        return $taken;
    }

    private function bound(int $length): void
    {
        if ($length > $this->longest) {
            throw new ClientException('too-long', "the answer has more than {$this->longest} bytes");
        }
    }
}
