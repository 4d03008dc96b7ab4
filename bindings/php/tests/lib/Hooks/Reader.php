<?php

declare(strict_types=1);

namespace Hooks;

use Icecore;

/** A function that reads, with the function that writes its bytes. */
final class Reader
{
    private function __construct(
        private string $format,
        public readonly bool $isText,
        private \Closure $read,
        private ?\Closure $write = null,
        /** True if the function has the options allowed_classes and max_depth. */
        private bool $isLikePhp = false,
        /** The names that are allowed without options; null if all are. */
        private ?array $defaultAllowed = [],
        private bool $takesLists = true,
        /** The text becomes igbinary first, in which links to replaced values are allowed. */
        private bool $becomesIgbinary = false,
    ) {
    }

    /** @return array<string, Reader> */
    public static function all(): array
    {
        static $all = null;
        return $all ??= self::make();
    }

    private static function make(): array
    {
        $iniClasses = (string) ini_get('icecore.classes');
        $defaultAllowed = $iniClasses === '' ? [] : explode(',', $iniClasses);
        if (ini_get('icecore.replace')) {
            return [
                'unserialize, replaced' =>
                new self('php', true, fn ($bytes, $list) => \unserialize($bytes, $list), \serialize(...), true, null),
                'unserialize, replaced, of a payload' =>
                    new self('php', true, fn ($bytes, $list) => \unserialize($bytes, $list),
                    fn ($value) => \serialize([self::customObject($value), 1]), true, null),
            ];
        }
        $all = [
            'unserialize' => new self('php', true, Icecore\unserialize(...), \serialize(...), true, $defaultAllowed),
            'decode php' =>
                new self('php', true, fn ($bytes, $list) => Icecore\decode($bytes, 'php', $list), \serialize(...),
                false, $defaultAllowed),
            'unserialize of a payload' =>
                new self('php', true, Icecore\unserialize(...),
                fn ($value) => \serialize([self::customObject($value), $value]), true, $defaultAllowed),
            'igbinary_unserialize' =>
                new self('igbinary', false, Icecore\igbinary_unserialize(...), Icecore\igbinary_serialize(...), true,
                $defaultAllowed),
            'var_import' =>
                new self('var-export', false, Icecore\var_import(...),
                fn ($value) => Icecore\var_export($value, true), false, $defaultAllowed),
            'igbinary of a text' =>
                new self('php', true,
                fn ($bytes, $list) => Icecore\igbinary_unserialize(Icecore\convert($bytes, 'php', 'igbinary'), $list),
                \serialize(...), true, $defaultAllowed, true, true),
        ];
        foreach (['php', 'php_binary', 'php_serialize', 'igbinary'] as $handler) {
            $format = "php-session:handler=$handler";
            $all["decode $format"] = new self($format, str_starts_with($handler, 'php'),
                fn ($bytes, $list) => Icecore\decode($bytes, $format, $list),
                fn ($value) => Icecore\encode(['v' => $value, 'w' => 1], $format), false, $defaultAllowed);
        }
        foreach (['storable', 'marshal', 'sereal', 'dumper', 'gzip/php', 'sereal:compress=zlib',
            'json:typed'] as $format) {
            $all["decode $format"] = new self($format, false,
                fn ($bytes, $list) => Icecore\decode($bytes, $format, $list),
                fn ($value) => Icecore\convert(\serialize($value), 'php', $format), false, $defaultAllowed);
        }
        $all['decode of a detected format'] = new self('', true,
            fn ($bytes, $list) => Icecore\decode($bytes, null, $list), \serialize(...), false, $defaultAllowed);
        if ($iniClasses !== '' && PHP_SAPI === 'cli') {
            ini_set('session.serialize_handler', 'icecore');
            session_set_save_handler(new Sessions, false);
            session_start();
            $all['session_decode'] = new self('php-session:handler=php', true, self::decodeSession(...),
                fn ($value) => 'v|' . \serialize($value) . 'w|i:1;', false, $defaultAllowed, false);
        }
        return $all;
    }

    private static function decodeSession(string $bytes): mixed
    {
        $_SESSION = [];
        if (!session_decode($bytes)) {
            // A session that can't be read is destroyed.
            session_status() === PHP_SESSION_ACTIVE || session_start();
            return false;
        }
        $read = $_SESSION;
        $_SESSION = [];
        return $read;
    }

    private static function customObject(mixed $value): object
    {
        $object = new (Values::pick(['LFrozen', 'LFrozen', 'UFrozen']));
        $object->in = $value;
        return $object;
    }

    public function write(mixed $value): string
    {
        return ($this->write)($value);
    }

    public function read(string $bytes, array $list): mixed
    {
        return ($this->read)($bytes, $list);
    }

    /** Drops state of an earlier call that an exception ended. */
    public static function clean(): void
    {
        $_SESSION = [];
        gc_collect_cycles();
    }

    /** Returns true if these bytes are not a document of the format. */
    public function isMalformed(string $bytes): bool
    {
        if ($this->format === '') {
            return false;
        }
        try {
            // PHP accepts integers beyond 64 bits, and cuts them: so does php:lenient. In place of PHP's own
            // function, a class decides what a malformed payload means.
            $format = match (true) {
                !$this->isLikePhp || $this->format !== 'php' => $this->format,
                (bool) ini_get('icecore.replace') => 'php:lenient,unresolved=payloads',
                default => 'php:lenient',
            };
            Icecore\convert($bytes, $format, 'json:typed');
        } catch (Icecore\Exception $e) {
            // For PHP, bytes after a document are not an error; data that JSON can't express is
            // well-formed.
            return $e instanceof Icecore\DecodeException
                && !in_array($e->kind, ['trailing', 'limit', 'unsupported'], true);
        }
        return false;
    }

    /**
     * Returns true if PHP's own reader refuses the text when it builds no class. Texts with `C:` objects
     * and enums are left out, because PHP would look up their classes.
     */
    public function isRefusedByPhp(string $bytes): bool
    {
        return $this->isLikePhp && $this->format === 'php' && !ini_get('icecore.replace')
            && !preg_match($this->becomesIgbinary ? '/[CErR]:/' : '/[CE]:/', $bytes) && !str_starts_with($bytes, 'b:0;')
            && \unserialize($bytes, ['allowed_classes' => false]) === false;
    }

    /** Returns options with a list, and the names that it allows; null: all. */
    public static function anyList(Reader $reader): array
    {
        if (!$reader->takesLists) {
            return [[], $reader->defaultAllowed];
        }
        // LPlain and LEnum are in each list, because the hook of LNested also allows them.
        $names = array_values(array_filter(Calls::LISTED, fn ($name) => $name === 'LPlain' || $name === 'LEnum'
            || mt_rand(0, 7) > 0));
        // The list of the process is valid in addition to `classes`.
        $with = fn (array $names) => $reader->defaultAllowed === null || $reader->defaultAllowed === [] ? $names
            : [...$reader->defaultAllowed, ...$names];
        $chosen = match (mt_rand(0, $reader->isLikePhp ? 11 : 7)) {
            0, 1 => [['classes' => $names], $with($names)],
            2 => [['classes' => ['L*']], $with(['L*'])],
            3 => [['classes' => 'record'], $with([])],
            4 => [['classes' => [...$names, 'record']], $with($names)],
            5 => [['classes' => 'any'], null],
            6 => [[], $reader->defaultAllowed],
            7 => [['classes' => [...$names, 'ArrayObject', 'SplObjectStorage', 'DateTime']],
                $with([...$names, 'ArrayObject', 'SplObjectStorage', 'DateTime'])],
            8, 9 => [['allowed_classes' => $names], $names],
            10 => [['allowed_classes' => false], []],
            11 => [['allowed_classes' => array_map('strtolower', $names)], $names],
        };
        if ($reader->isLikePhp && mt_rand(0, 5) === 0) {
            $chosen[0]['max_depth'] = mt_rand(0, 6);
        }
        // LNested reads again, without allowed_classes: there the list of the process is valid.
        if ($chosen[1] !== null && $reader->defaultAllowed) {
            $nests = in_array('lnested', array_map('strtolower', $chosen[1]), true)
                || in_array('L*', $chosen[1], true);
            $chosen[1] = $nests ? [...$chosen[1], ...$reader->defaultAllowed] : $chosen[1];
        }
        return $chosen;
    }
}

/** Sessions that are not stored. */
final class Sessions implements \SessionHandlerInterface
{
    public function open(string $path, string $name): bool { return true; }
    public function close(): bool { return true; }
    public function read(string $id): string|false { return ''; }
    public function write(string $id, string $data): bool { return true; }
    public function destroy(string $id): bool { return true; }
    public function gc(int $lifetime): int|false { return 0; }
}
