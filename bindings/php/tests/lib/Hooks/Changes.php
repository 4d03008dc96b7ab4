<?php

declare(strict_types=1);

namespace Hooks;

/** Random changes of serialized data. */
final class Changes
{
    public static function apply(string $bytes, bool $isText): string
    {
        for ($times = Values::pick([0, 0, 1, 1, 1, 2, 3]); $times > 0 && $bytes !== ''; $times--) {
            $bytes = $isText && mt_rand(0, 4) > 0 ? self::changeText($bytes) : self::changeBytes($bytes);
        }
        return $bytes === '' ? 'N;' : $bytes;
    }

    private static function changeBytes(string $bytes): string
    {
        $offset = mt_rand(0, strlen($bytes) - 1);
        switch (mt_rand(0, 8)) {
            case 0:
                $bytes[$offset] = chr(mt_rand(0, 255));
                return $bytes;
            case 1:
                $bytes[$offset] = chr(ord($bytes[$offset]) ^ 1 << mt_rand(0, 7));
                return $bytes;
            case 2: return substr_replace($bytes, substr($bytes, mt_rand(0, strlen($bytes) - 1), mt_rand(1, 20)),
                $offset, 0);
            case 3: return substr_replace($bytes, '', $offset, mt_rand(1, 4));
            case 4: return substr($bytes, 0, $offset);
            default: return self::replaceClass($bytes);
        }
    }

    /** Replaces a class by its twin, or by another class with a name of the same length. */
    private static function replaceClass(string $bytes): string
    {
        if (!preg_match_all('/(?<![a-z])[LU](?:'
            . implode('|', array_map(fn ($name) => substr($name, 1), Calls::LISTED))
            . ')/', $bytes, $found, PREG_OFFSET_CAPTURE)) {
            return $bytes . 'x';
        }
        [$name, $offset] = Values::pick($found[0]);
        $others = array_values(array_filter([...Calls::LISTED, ...Values::PHP_CLASSES],
            fn ($other) => strlen($other) === strlen($name)));
        $other = mt_rand(0, 1) ? ($name[0] === 'L' ? 'U' : 'L') . substr($name, 1) : Values::pick($others);
        return substr_replace($bytes, $other, $offset, strlen($name));
    }

    private static function object(string $class, string $body = ''): string
    {
        return 'O:' . strlen($class) . ":\"$class\":" . ($body === '' ? '0' : '1') . ":{{$body}}";
    }

    private static function customObject(string $class, string $payload): string
    {
        return 'C:' . strlen($class) . ":\"$class\":" . strlen($payload) . ":{{$payload}}";
    }

    private static function enum(string $case): string
    {
        return 'E:' . str_repeat('0', mt_rand(0, 10)) . strlen($case) . ":\"$case\";";
    }

    /** Returns a hostile value in PHP's text. */
    private static function hostileValue(): string
    {
        $class = mt_rand(0, 1) ? Values::name() : Values::pick(Values::PHP_CLASSES);
        return match (mt_rand(0, 15)) {
            0 => self::object($class),
            1 => self::object($class, 's:1:"a";' . self::object(Values::name())),
            2 => self::object($class, 's:4:"' . "\0*\0b" . '";i:1;'),
            3 => self::customObject($class, self::hostilePayload()),
            4 => self::customObject($class, ''),
            5 => self::enum(Values::pick(['UEnum:A', 'LEnum:A', 'UEnum:C', 'UCards:Hearts', 'LCards:x', 'UPlain:a',
                'Nobody:A', 'UEnum', 'lenum:B', 'ULazy:A', '\UEnum:A'])),
            6 => 'r:' . mt_rand(0, 9) . ';',
            7 => 'R:' . mt_rand(0, 9) . ';',
            8 => self::object('__PHP_Incomplete_Class', 's:27:"__PHP_Incomplete_Class_Name";s:6:"UPlain";'),
            9 => 'O:8:"DateTime":3:{s:4:"date";s:19:"2020-01-01 00:00:00";s:13:"timezone_type";i:3;s:8:"timezone";'
                . self::object(Values::name()) . '}',
            10 => 'a:2:{i:0;' . self::object(Values::name()) . 'i:0;' . self::object(Values::name()) . '}',
            11 => 'O:11:"ArrayObject":4:{i:0;i:0;i:1;' . self::object(Values::name()) . 'i:2;a:0:{}i:3;N;}',
            12 => 'O:16:"SplObjectStorage":2:{i:0;a:2:{i:0;' . self::object(Values::name()) . 'i:1;N;}i:1;a:0:{}}',
            13 => 'a:1:{i:0;' . self::object(Values::name(), 's:1:"a";R:2;') . '}',
            14 => 'S:6:"\55Plain";',
            default => 'O:+' . strlen($class) . ":\"$class\":0:{}",
        };
    }

    private static function hostilePayload(): string
    {
        return match (mt_rand(0, 6)) {
            0 => self::object(Values::name()),
            1 => 'a:1:{i:0;' . self::object(Values::name()),
            2 => 'x:i:0;a:1:{i:0;' . self::object(Values::name()) . '};m:a:0:{}',
            3 => 'x:i:1;' . self::object(Values::name()) . ',N;;m:a:0:{}',
            4 => self::enum(Values::pick(['UEnum:A', 'LEnum:A'])),
            5 => self::customObject(Values::name(), self::object(Values::name())),
            default => 'i:0;:' . self::object(Values::name()),
        };
    }

    private static function changeText(string $text): string
    {
        switch (mt_rand(0, 10)) {
            case 0: // other lengths
                return preg_replace_callback('/([OCEs]):(\d+):"/', fn ($found) => "$found[1]:"
                . str_repeat('0', mt_rand(0, 9)) . max(0, $found[2] + Values::pick([0, 0, 0, -1, 1]))
                . ':"', $text, mt_rand(1, 3)) ?? $text;
            case 1: // other counts
                return preg_replace_callback('/:(\d+):\{/', fn ($found) => ':' . max(-1, $found[1] + mt_rand(-1, 2))
                . ':{', $text, mt_rand(1, 2)) ?? $text;
            case 2:
            case 3:
            case 4: // another value
                return self::replaceOne('/(?<=;|\{)(?:i:\d+|N|b:\d|s:\d+:"[^"]*"|d:[\d.]+|[rR]:\d+);(?=[a-zA-Z}])/',
                self::hostileValue(), $text);
            case 5: // another key
                return self::replaceOne('/(?<=\{|;)s:\d+:"[^"]*";(?=[a-zA-Z])/',
                Values::pick(['i:0;', 's:1:"a";', 's:2:"in";', 'b:1;', 'a:0:{}', self::hostileValue()]), $text);
            case 6: // an object becomes a C: object or an enum case, and vice versa
                return self::replaceOne('/[OC](?=:\d+:")/', Values::pick(['C', 'O', 'E']), $text);
            case 7: return $text . Values::pick(['s:999:"', '}', self::hostileValue(), "\n"]);
            case 8: return 'a:2:{i:0;' . self::hostileValue() . "i:1;$text}";
            case 9: return 'a:3:{i:0;' . $text . 'i:0;' . self::hostileValue() . 'i:1;'
                . Values::pick(['R:2;', 'r:2;', 'R:3;', 'r:3;']) . '}';
            default: return self::replaceClass($text);
        }
    }

    private static function replaceOne(string $pattern, string $by, string $text): string
    {
        if (!preg_match_all($pattern, $text, $found, PREG_OFFSET_CAPTURE)) {
            return $text;
        }
        [$old, $offset] = Values::pick($found[0]);
        return substr_replace($text, $by, $offset, strlen($old));
    }
}
