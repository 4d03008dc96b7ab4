<?php
// Bytes and strings in the notation of the lines.

declare(strict_types=1);

final class Bytes
{
    // Returns the bytes of a description: text, {"hex": …}, {"join": [ … ]}, {"times": [N, …]},
    // {"count": [FROM, TO, BEFORE, AFTER]}.
    public static function of(mixed $description): string
    {
        if (is_string($description)) {
            return $description;
        }
        switch (array_key_first($description)) {
            case 'hex':
                return hex2bin($description['hex']);
            case 'join':
                return implode('', array_map(self::of(...), $description['join']));
            case 'times':
                return str_repeat(self::of($description['times'][1]), $description['times'][0]);
        }
        [$from, $to, $before, $after] = $description['count'];
        return implode('', array_map(fn ($number) => "$before$number$after", range($from, $to)));
    }

    // Returns the string of a description: "ASCII", {"text": …}, {"bytes": hex}. A key may be an integer.
    public static function string(mixed $description): int|string
    {
        return is_array($description) ? $description['text'] ?? hex2bin($description['bytes']) : $description;
    }
}
