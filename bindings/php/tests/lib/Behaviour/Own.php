<?php
// A pair of functions for a format of PHP's own. If they return false or null for damaged bytes,
// decode is called too: its exception has the details, and both must refuse.

declare(strict_types=1);

final class Own
{
    // PHP's own default is 4096, which some lines exceed.
    public const DEPTH = ['max_depth' => 10_000];

    private function __construct(public readonly string $name, private readonly string $format, private readonly Closure $writer, private readonly Closure $reader)
    {
    }

    public static function all(): array
    {
        static $all = null;
        return $all ??= [
            new self('serialize and unserialize', 'php', Icecore\serialize(...), fn ($bytes, $options) => Icecore\unserialize($bytes, $options + self::DEPTH)),
            new self('igbinary_serialize and igbinary_unserialize', 'igbinary', Icecore\igbinary_serialize(...), fn ($bytes, $options) => Icecore\igbinary_unserialize($bytes, $options + self::DEPTH)),
            new self('encode and decode', 'php', fn ($value) => Icecore\encode($value, 'php'), fn ($bytes, $options) => Icecore\decode($bytes, 'php', $options + self::DEPTH)),
        ];
    }

    // Returns the pair for a format that has functions with names of its own.
    public static function of(string $format): ?self
    {
        foreach (self::all() as $own) {
            if ($own->format === $format) {
                return $own;
            }
        }
        return null;
    }

    public function write(mixed $value): string
    {
        return ($this->writer)($value);
    }

    public function read(string $bytes, array $options): mixed
    {
        error_clear_last();
        $said = null;
        set_error_handler(function ($level, $message) use (&$said) {
            $said = $message;
            return true;
        });
        try {
            $value = ($this->reader)($bytes, $options);
        } finally {
            restore_error_handler();
        }
        if ($value !== false && $value !== null) {
            return $value;
        }
        $decoded = Icecore\decode($bytes, $this->format, $options + self::DEPTH);
        if ($decoded !== $value) {
            throw new Part("$this->name gives " . Checker::shown($value) . ($said === null ? '' : " ($said)") . ', decode gives ' . Checker::shown($decoded));
        }
        return $value;
    }
}
