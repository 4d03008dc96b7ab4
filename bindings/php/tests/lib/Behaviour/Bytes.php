<?php
// Bytes and strings in the notation of the lines.

declare(strict_types=1);

final class Bytes
{
    // Text, {"hex": …}, {"join": [ … ]}, {"times": [N, …]}, {"count": [FROM, TO, BEFORE, AFTER]}.
    public static function of(mixed $said): string
    {
        if (is_string($said)) {
            return $said;
        }
        switch (array_key_first($said)) {
            case 'hex':
                return hex2bin($said['hex']);
            case 'join':
                return implode('', array_map(self::of(...), $said['join']));
            case 'times':
                return str_repeat(self::of($said['times'][1]), $said['times'][0]);
        }
        [$from, $to, $before, $after] = $said['count'];
        return implode('', array_map(fn ($n) => "$before$n$after", range($from, $to)));
    }

    // "ASCII", {"text": …}, {"bytes": hex}; keys may be integers.
    public static function string(mixed $said): int|string
    {
        return is_array($said) ? $said['text'] ?? hex2bin($said['bytes']) : $said;
    }
}
