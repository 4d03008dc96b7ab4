<?php

declare(strict_types=1);

namespace Icecore\Client;

/**
 * Information about an object. Times are milliseconds since 1970.
 */
final class Record
{
    /** The reason why the object can't be decoded, or null. */
    public ?string $problem;

    private function __construct(
        public readonly string $id,
        public readonly int $sequence,
        public readonly ?string $key,
        public readonly int $storedAt,
        public readonly ?int $expiresAt,
        public readonly ?string $format,
        public readonly ?string $class,
        public readonly int $size,
        public readonly string $checksum,
        public readonly string $bytes,
        ?string $problem,
    ) {
        $this->problem = $problem;
    }

    /**
     * Makes a record from the daemon's description.
     *
     * @internal
     */
    public static function of(array $description): self
    {
        $text = static fn (string $name): ?string =>
            is_string($description[$name] ?? null) ? $description[$name] : null;
        $number = static fn (string $name): ?int => is_int($description[$name] ?? null) ? $description[$name] : null;
        return new self(
            $text('id') ?? '',
            $number('sequence') ?? 0,
            $text('key'),
            $number('stored_at') ?? 0,
            $number('expires_at'),
            $text('format'),
            $text('class'),
            $number('size') ?? 0,
            $text('checksum') ?? '',
            base64_decode($text('bytes') ?? ''),
            $text('problem'),
        );
    }
}
