<?php
// An implementation of PHP's functions: PHP's own, or Icecore's. Hooks of test classes call the
// tested one through `Side::now()`.

declare(strict_types=1);

final class Side
{
    private static ?self $now = null;

    private function __construct(
        public readonly string $name,
        private readonly Closure $serialize,
        private readonly Closure $unserialize,
        private readonly Closure $varExport,
        private readonly Closure $varImport,
        private readonly ?Closure $igbinarySerialize,
        private readonly ?Closure $igbinaryUnserialize,
    ) {
    }

    public static function php(): self
    {
        $has = function_exists('igbinary_serialize');
        return new self(
            'PHP',
            \serialize(...),
            \unserialize(...),
            fn ($value) => \var_export($value, true),
            fn ($text) => eval("return $text;"),
            $has ? \igbinary_serialize(...) : null,
            $has ? \igbinary_unserialize(...) : null,
        );
    }

    // Icecore with all classes allowed, as in PHP's own functions.
    public static function icecore(): self
    {
        return new self(
            'Icecore',
            Icecore\serialize(...),
            fn ($text, $options = []) => Icecore\unserialize($text, $options + ['allowed_classes' => true]),
            fn ($value) => Icecore\var_export($value, true),
            fn ($text) => Icecore\var_import($text, ['classes' => 'any']),
            Icecore\igbinary_serialize(...),
            fn ($bytes) => Icecore\igbinary_unserialize($bytes, ['allowed_classes' => true]),
        );
    }

    public static function now(): self
    {
        return self::$now ?? self::php();
    }

    // Runs a call with this side for the hooks.
    public function during(Closure $call): mixed
    {
        $before = self::$now;
        self::$now = $this;
        try {
            return $call($this);
        } finally {
            self::$now = $before;
        }
    }

    public function serialize(mixed $value): mixed
    {
        return ($this->serialize)($value);
    }

    public function unserialize(mixed $text, array $options = []): mixed
    {
        return ($this->unserialize)($text, $options);
    }

    public function varExport(mixed $value): mixed
    {
        return ($this->varExport)($value);
    }

    public function varImport(string $text): mixed
    {
        return ($this->varImport)($text);
    }

    public function hasIgbinary(): bool
    {
        return $this->igbinarySerialize !== null;
    }

    public function igbinarySerialize(mixed $value): mixed
    {
        return ($this->igbinarySerialize)($value);
    }

    public function igbinaryUnserialize(string $bytes): mixed
    {
        return ($this->igbinaryUnserialize)($bytes);
    }
}
