<?php

declare(strict_types=1);

namespace Icecore\Client;

use Icecore\ClientException;

/**
 * Sends requests to the daemon, and decodes its answers.
 *
 * @internal
 */
final class Requests
{
    public function __construct(private readonly Connection $connection, private readonly float $patience)
    {
    }

    /** Returns the time in seconds by a clock that is never set. */
    public static function now(): float
    {
        return hrtime(true) / 1e9;
    }

    /** Escapes a text for a path or a query. */
    public static function escape(string $text): string
    {
        return str_replace('.', '%2E', rawurlencode($text));
    }

    /**
     * Returns the pause before the next attempt: this one with a random factor, so that clients do not
     * try at the same time, or a longer one if the daemon requests it.
     */
    public static function pauseAfter(float $pause, ClientException $error): float
    {
        $requested = $error->retryAfter ?? 0;
        return $requested > $pause ? min($requested, 30) : $pause * (0.75 + random_int(0, 500) / 1000);
    }

    public static function sleep(float $seconds): void
    {
        usleep((int) max(0, $seconds * 1e6));
    }

    /**
     * Sends a request once.
     *
     * @param array<string, mixed> $query
     * @return array<string, mixed>
     */
    public function send(
        string $method,
        string $path,
        array $query = [],
        string $body = '',
        string $type = 'application/octet-stream',
        float $extraTime = 0,
    ): array {
        $pairs = [];
        foreach ($query as $name => $value) {
            if ($value !== null) {
                $pairs[] = "$name=" . self::escape(is_bool($value) ? ($value ? 'true' : 'false') : (string) $value);
            }
        }
        $path .= $pairs === [] ? '' : '?' . implode('&', $pairs);
        $body = $method === 'POST' ? $body : null;
        [$code, $headers, $text] = $this->connection->request($method, $path, $body, $type, $extraTime);
        $answer = self::decodeObject($text);
        if ($code < 200 || $code > 299) {
            throw self::errorOf($code, $headers, $answer);
        }
        return $answer ?? throw new ClientException('answer', 'not an Icecore daemon: the answer is not JSON', $code);
    }

    /**
     * Sends a POST request with a JSON body.
     *
     * @return array<string, mixed>
     */
    public function postJson(string $path, string $json): array
    {
        return $this->send('POST', $path, body: $json, type: 'application/json');
    }

    /**
     * Sends a request, and repeats it for a while if the daemon can't be reached. Only for requests that
     * may be repeated.
     *
     * @param mixed ...$arguments the arguments of send
     * @return array<string, mixed>
     */
    public function sendRepeatedly(mixed ...$arguments): array
    {
        [$pause, $deadline] = [0.05, self::now() + $this->patience];
        while (true) {
            try {
                return $this->send(...$arguments);
            } catch (ClientException $error) {
                if (!$error->isPassing() || self::now() + $pause >= $deadline) {
                    throw $error;
                }
                self::sleep(self::pauseAfter($pause, $error));
                $pause = min($pause * 2, 2);
            }
        }
    }

    /**
     * Decodes a JSON object. Returns null if the text is not one.
     *
     * @return ?array<string, mixed>
     */
    private static function decodeObject(string $text): ?array
    {
        $answer = json_decode($text, true, 128, JSON_BIGINT_AS_STRING);
        return is_array($answer) && str_starts_with(ltrim($text), '{') ? $answer : null;
    }

    /**
     * Makes the exception for an answer with an error.
     *
     * @param array<string, string> $headers
     * @param ?array<string, mixed> $answer
     */
    private static function errorOf(int $code, array $headers, ?array $answer): ClientException
    {
        $error = is_array($answer['error'] ?? null) ? $answer['error'] : [];
        $text = static fn (string $name, string $default): string =>
            is_string($error[$name] ?? null) ? $error[$name] : $default;
        $after = $headers['retry-after'] ?? '';
        return new ClientException(
            $text('kind', 'answer'),
            $text('message', "answer $code"),
            $code,
            $text('path', ''),
            is_int($error['offset'] ?? null) ? $error['offset'] : null,
            is_array($error['errors'] ?? null) ? array_values($error['errors']) : [],
            preg_match('/\A[0-9]{1,4}\z/', $after) === 1 ? (int) $after : null,
        );
    }
}
