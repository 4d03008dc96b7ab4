<?php
// An implementation of PHP's functions: PHP's own, or Icecore's. Hooks of test classes call the one
// that is being tested through `Implementation::current()`.

declare(strict_types=1);

final class Implementation
{
    private static ?self $current = null;

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
        $hasIgbinary = function_exists('igbinary_serialize');
        return new self(
            'PHP',
            \serialize(...),
            \unserialize(...),
            fn ($value) => \var_export($value, true),
            fn ($text) => eval("return $text;"),
            $hasIgbinary ? \igbinary_serialize(...) : null,
            $hasIgbinary ? \igbinary_unserialize(...) : null,
        );
    }

    // Icecore's functions, with all classes allowed as in PHP's own.
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

    public static function current(): self
    {
        return self::$current ?? self::php();
    }

    // Runs a call. Hooks in it use this implementation.
    public function run(Closure $call): mixed
    {
        $outer = self::$current;
        self::$current = $this;
        try {
            return $call($this);
        } finally {
            self::$current = $outer;
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
