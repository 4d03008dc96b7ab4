<?php

declare(strict_types=1);

namespace Icecore\Client;

use Icecore\ClientException;

/**
 * Requests to the daemon, and its answers.
 *
 * @internal
 */
final class Requests
{
    public function __construct(private readonly Connection $connection, private readonly float $patience)
    {
    }

    public static function now(): float
    {
        return hrtime(true) / 1e9;
    }

    /** Escapes a text for an address. */
    public static function escaped(string $text): string
    {
        return str_replace('.', '%2E', rawurlencode($text));
    }

    /**
     * Returns a longer pause, or the one that the daemon requested; different clients get different
     * ones.
     */
    public static function longer(float $pause, ClientException $error): float
    {
        $asked = $error->retryAfter ?? 0;
        return $asked > $pause ? min($asked, 30) : $pause * (0.75 + random_int(0, 500) / 1000);
    }

    public static function sleep(float $seconds): void
    {
        usleep((int) max(0, $seconds * 1e6));
    }

    /**
     * Sends one request.
     *
     * @param array<string, mixed> $query
     * @return array<string, mixed>
     */
    public function ask(string $method, string $path, array $query = [], string $body = '', string $type = 'application/octet-stream', float $longer = 0): array
    {
        $pairs = [];
        foreach ($query as $name => $value) {
            if ($value !== null) {
                $pairs[] = "$name=" . self::escaped(is_bool($value) ? ($value ? 'true' : 'false') : (string) $value);
            }
        }
        $path .= $pairs === [] ? '' : '?' . implode('&', $pairs);
        [$code, $headers, $text] = $this->connection->request($method, $path, $method === 'POST' ? $body : null, $type, $longer);
        $said = self::parsed($text);
        if ($code < 200 || $code > 299) {
            throw self::refusal($code, $headers, $said);
        }
        return $said ?? throw new ClientException('answer', 'not an Icecore daemon: the answer is not JSON', $code);
    }

    /**
     * The same with a JSON body.
     *
     * @param string $said JSON
     * @return array<string, mixed>
     */
    public function tell(string $path, string $said): array
    {
        return $this->ask('POST', $path, body: $said, type: 'application/json');
    }

    /**
     * Repeats a request for a while if the daemon is away: only for requests that may be
     * repeated.
     *
     * @param mixed ...$parts the parameters of ask
     * @return array<string, mixed>
     */
    public function insist(mixed ...$parts): array
    {
        [$pause, $until] = [0.05, self::now() + $this->patience];
        while (true) {
            try {
                return $this->ask(...$parts);
            } catch (ClientException $error) {
                if (!$error->isPassing() || self::now() + $pause >= $until) {
                    throw $error;
                }
                self::sleep(self::longer($pause, $error));
                $pause = min($pause * 2, 2);
            }
        }
    }

    /** @return ?array<string, mixed> */
    private static function parsed(string $text): ?array
    {
        $said = json_decode($text, true, 128, JSON_BIGINT_AS_STRING);
        return is_array($said) && str_starts_with(ltrim($text), '{') ? $said : null;
    }

    /**
     * @param array<string, string> $headers
     * @param ?array<string, mixed> $said
     */
    private static function refusal(int $code, array $headers, ?array $said): ClientException
    {
        $error = is_array($said['error'] ?? null) ? $said['error'] : [];
        $text = static fn (string $name, string $usual): string => is_string($error[$name] ?? null) ? $error[$name] : $usual;
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
