<?php
// Makes random texts with `C:` objects, and changes them.

declare(strict_types=1);

final class Texts
{
    /** Whether each value is an object, by its number, up to the first payload. */
    private static array $isObject;
    private static bool $isCounted;

    private const CUSTOM = ['CustomReads', 'CustomThrows', 'CustomReadsTwice', 'CustomWithDepth', 'CustomWithList',
        'CustomWithAny', 'CustomWithNone', 'CustomBase64', 'CustomKeeps', 'CustomCatches'];
    private const ARRAYS = ['ArrayObject', 'ArrayIterator', 'RecursiveArrayIterator', 'arrayobject', 'MyArray',
        'MyArrayCatches'];
    private const STORAGES = ['SplObjectStorage', 'MyStorage', 'splobjectstorage'];
    private const LISTS = ['SplDoublyLinkedList', 'SplQueue', 'SplStack', 'MyList'];
    private const OTHERS = ['stdClass', 'Plain', 'Missing', 'SplFixedArray', 'Wakes', 'Closure', 'Suit'];

    /** Returns a text, and options for unserialize. */
    public static function random(): array
    {
        $text = self::value(4);
        if (!str_contains($text, 'C:')) {
            $text = 'a:2:{i:0;' . self::custom(3) . "i:1;$text}";
        }
        if (self::chance(15)) {
            $text = self::change($text);
        }
        $options = match (self::int(0, 9)) {
            0 => ['max_depth' => self::int(0, 4)],
            1 => ['allowed_classes' => ['Plain', 'CustomReads', 'ArrayObject', 'SplObjectStorage', 'MyArray', 'Suit']],
            // A class that passes other options to unserialize gets the list of the document, and in PHP all classes.
            2 => ['allowed_classes' => ['Suit', ...array_diff(self::CUSTOM, ['CustomReadsTwice', 'CustomWithDepth'])]],
            3 => ['max_depth' => self::int(1, 3), 'allowed_classes' => true],
            default => [],
        };
        return [$text, $options];
    }

    private static function int(int $least, int $most): int
    {
        return $least + Rng::below($most - $least + 1);
    }

    private static function chance(int $percent): bool
    {
        return Rng::below(100) < $percent;
    }

    private static function value(int $depth): string
    {
        switch (self::int(0, $depth > 0 ? 17 : 6)) {
            case 0: return 'i:' . self::int(-5, 500) . ';';
            case 1: return self::string(str_repeat('x', self::int(0, 4)));
            case 2: return 'N;';
            case 3: return Rng::pick(['E:11:"Suit:Hearts";', 'E:10:"Suit:Clubs";', 'b:1;']);
            case 4: return 'd:1.5;';
            case 5:
            case 6: return Rng::pick(['r:', 'R:']) . self::int(1, 12) . ';';
            case 7:
            case 8:
            case 9:
                $count = self::int(0, 3);
                $items = '';
                for ($key = 0; $key < $count; $key++) {
                    $items .= "i:$key;" . self::value($depth - 1);
                }
                return "a:$count:{" . $items . '}';
            case 10:
            case 11: return self::object($depth);
            default: return self::custom($depth);
        }
    }

    private static function string(string $bytes): string
    {
        return 's:' . strlen($bytes) . ":\"$bytes\";";
    }

    private static function object(int $depth): string
    {
        $class = Rng::pick(['Plain', 'Plain', 'Wakes', 'stdClass', 'Restores', 'WakesAndReads', 'Missing', 'CustomReads',
            'SplFixedArray']);
        $value = self::value($depth - 1);
        // These classes read strings themselves. Nothing of a malformed string runs, so these have no payloads.
        if (($class === 'Restores' || $class === 'WakesAndReads')
            && !preg_match('/C:|Custom/', $value)) {
            $value = self::string($value);
        }
        $name = $class === 'SplFixedArray' ? 'i:0;' : 's:1:"a";';
        return 'O:' . strlen($class) . ":\"$class\":1:{" . "$name$value}";
    }

    private static function custom(int $depth): string
    {
        switch (self::int(0, 8)) {
            case 0:
            case 1:
                $class = Rng::pick(self::ARRAYS);
                $payload = 'x:i:' . Rng::pick(['0', '0', '1', '16777216', '3']) . ';';
                if (!str_contains($payload, '16777216')) {
                    $payload .= self::container($depth - 1) . ';';
                }
                $payload .= 'm:' . self::members($depth - 1);
                break;
            case 2:
            case 3:
                $class = Rng::pick(self::STORAGES);
                $count = self::int(0, 2);
                $payload = "x:i:$count;";
                for ($item = 0; $item < $count; $item++) {
                    $payload .= self::object($depth - 1) . Rng::pick(['', ',' . self::value($depth - 1)]) . ';';
                }
                $payload .= 'm:' . self::members($depth - 1);
                break;
            case 4:
                $class = Rng::pick(self::LISTS);
                $payload = 'i:' . Rng::pick(['0', '4', '6', '2']) . ';';
                for ($count = self::int(0, 3); $count > 0; $count--) {
                    $payload .= ':' . self::value($depth - 1);
                }
                break;
            case 5:
                $class = Rng::pick(self::OTHERS);
                $payload = self::value($depth - 1);
                break;
            default:
                $class = Rng::pick(self::CUSTOM);
                $payload = self::value($depth - 1);
        }
        for ($changes = Rng::pick([0, 0, 1, 1, 2]); $changes > 0; $changes--) {
            $payload = self::change($payload);
        }
        if ($class === 'CustomBase64') {
            $payload = base64_encode($payload);
        }
        return 'C:' . strlen($class) . ":\"$class\":" . strlen($payload) . ':{' . $payload . '}';
    }

    /** Returns what an ArrayObject may contain. */
    private static function container(int $depth): string
    {
        return self::chance(60) ? 'a:1:{i:0;' . self::value($depth) . '}' : Rng::pick([self::object($depth),
            self::custom(max(0, $depth)), 'r:1;']);
    }

    private static function members(int $depth): string
    {
        return self::chance(70) ? 'a:0:{}' : 'a:1:{s:4:"more";' . self::value($depth) . '}';
    }

    private static function change(string $text): string
    {
        if ($text === '') {
            return 'x';
        }
        $offset = self::int(0, strlen($text) - 1);
        switch (self::int(0, 7)) {
            case 0:
                $text[$offset] = chr(self::int(32, 126));
                return $text;
            case 1: return substr($text, 0, $offset);
            case 2: return substr($text, 0, $offset) . substr($text, $offset + 1);
            case 3: return substr($text, 0, $offset) . Rng::pick([';', '}', ':', '0', 'i:1;', 'N;', "\0"]) . substr($text, $offset);
            case 4:
                return (string) preg_replace_callback('/(?<=[aOCsi]:)\d+/', fn ($found) => self::chance(30)
                    ? (string) max(0, (int) $found[0] + self::int(-1, 2)) : $found[0], $text);
            case 5: return $text . Rng::pick(['s:999:"', '}', 'i:5;', ';']);
            case 6: return (string) preg_replace('/i:\d+;(?=[a-zA-Z}])/', Rng::pick(['r:1;', 'R:2;', 'b:2;', 'i:9999999999999999999999;',
                'O:5:"Plain":0:{}']), $text, 1);
            default: return (string) preg_replace('/[aOC]:/', Rng::pick(['a:', 'O:', 'C:', 'A:']), $text, 1);
        }
    }

    /** Returns true if this difference is intended: see docs/php.md. */
    public static function mayDiffer(string $text, array $options, string $ours): bool
    {
        // Lists restrict enums, too.
        if (str_contains($text, 'E:') && str_contains($ours, 'Icecore\ClassException')) {
            return true;
        }
        // Nothing of a malformed text runs. Payloads do not count.
        return !self::isWhole($text, $options['max_depth'] ?? 4096);
    }

    /** Returns true if a text begins with a value, apart from its payloads. A depth of 0 is any. */
    private static function isWhole(string $text, int $maxDepth): bool
    {
        self::$isObject = [false];
        self::$isCounted = true;
        $offset = 0;
        return self::isWellFormed($text, $offset, $maxDepth === 0 ? PHP_INT_MAX : $maxDepth);
    }

    /** Reads a value, without its payloads, as PHP does. */
    private static function isWellFormed(string $text, int &$offset, int $levels, bool $isKey = false): bool
    {
        $rest = substr($text, $offset);
        if (preg_match('/\A([rR]):(\d+);/', $rest, $found)) {
            $offset += strlen($found[0]);
            $isObject = self::$isObject[(int) $found[2]] ?? null;
            self::count($found[1] === 'r', true);
            return (int) $found[2] > 0 && ($isObject === null ? !self::$isCounted : $isObject || $found[1] === 'R');
        }
        if (!$isKey) {
            self::count(true, (bool) preg_match('/\A[OCE]/', $rest));
        }
        if (preg_match('/\A(?:N;|b:[01];|i:[+-]?\d+;|d:[-+.\deE]+;|d:(?:NAN|-?INF);)/', $rest, $found)) {
            $offset += strlen($found[0]);
            return true;
        }
        if (preg_match('/\A([sE]):(\d+):"/', $rest, $found)) {
            $end = $offset + strlen($found[0]) + (int) $found[2];
            $name = substr($text, $offset + strlen($found[0]), (int) $found[2]);
            $offset = $end + 2;
            return substr($text, $end, 2) === '";' && ($found[1] === 's' || str_contains($name, ':'));
        }
        if (preg_match('/\Aa:(\d+):\{/', $rest, $found)) {
            $offset += strlen($found[0]);
            return self::areWellFormed($text, $offset, (int) $found[1], $found[1] === '0' ? PHP_INT_MAX : $levels, false);
        }
        if (!preg_match('/\A([OC]):(\d+):"/', $rest, $found)) {
            return false;
        }
        $name = substr($text, $offset + strlen($found[0]), (int) $found[2]);
        $offset += strlen($found[0]) + strlen($name);
        if (!preg_match('/\A":\+?(\d+):\{/', substr($text, $offset), $count) || !preg_match('/\A[\w\\\\\x80-\xff]+\z/', $name)) {
            return false;
        }
        $offset += strlen($count[0]);
        if ($found[1] === 'C') {
            self::$isCounted = false;
            $offset += (int) $count[1] + 1;
            return ($text[$offset - 1] ?? '') === '}';
        }
        return self::areWellFormed($text, $offset, (int) $count[1], $levels, true);
    }

    private static function count(bool $hasNumber, bool $isObject): void
    {
        if ($hasNumber && self::$isCounted) {
            self::$isObject[] = $isObject;
        }
    }

    private static function areWellFormed(string $text, int &$offset, int $count, int $levels, bool $isObject): bool
    {
        if ($levels < 1 || $count > (strlen($text) - $offset) / 2) {
            return false;
        }
        for (; $count > 0; $count--) {
            $isKey = str_contains('is', $text[$offset] ?? '-');
            if (!$isKey || !self::isWellFormed($text, $offset, 0, true) || !self::isWellFormed($text, $offset, $levels - 1)) {
                return false;
            }
        }
        return ($text[$offset++] ?? '') === '}';
    }
}
