<?php
// A pair of functions that write and read a format of PHP's own. If the reading function returns
// false or null for damaged bytes, decode is called too: it must also refuse them, and its exception
// has the details.

declare(strict_types=1);

final class FunctionPair
{
    // Some lines exceed PHP's default of 4096 levels.
    public const DEPTH_OPTION = ['max_depth' => 10_000];

    private function __construct(public readonly string $name, private readonly string $format,
        private readonly Closure $writer, private readonly Closure $reader)
    {
    }

    public static function all(): array
    {
        static $all = null;
        return $all ??= [
            new self('serialize and unserialize', 'php', Icecore\serialize(...),
            fn ($bytes, $options) => Icecore\unserialize($bytes, $options + self::DEPTH_OPTION)),
            new self('igbinary_serialize and igbinary_unserialize', 'igbinary', Icecore\igbinary_serialize(...),
                fn ($bytes, $options) => Icecore\igbinary_unserialize($bytes, $options + self::DEPTH_OPTION)),
            new self('encode and decode', 'php', fn ($value) => Icecore\encode($value, 'php'),
                fn ($bytes, $options) => Icecore\decode($bytes, 'php', $options + self::DEPTH_OPTION)),
        ];
    }

    // Returns the pair for a format that has functions of its own, or null.
    public static function of(string $format): ?self
    {
        foreach (self::all() as $pair) {
            if ($pair->format === $format) {
                return $pair;
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
        $warning = null;
        set_error_handler(function ($level, $message) use (&$warning) {
            $warning = $message;
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
        $decoded = Icecore\decode($bytes, $this->format, $options + self::DEPTH_OPTION);
        if ($decoded !== $value) {
            throw new Mismatch("$this->name gives " . Checker::shown($value)
                . ($warning === null ? '' : " ($warning)") . ', decode gives ' . Checker::shown($decoded));
        }
        return $value;
    }
}
