<?php

declare(strict_types=1);

namespace Icecore\Client;

/**
 * Plain data: null, booleans, numbers, UTF-8 strings, and arrays of these. No method of an object is
 * called.
 *
 * @internal
 */
final class Plain
{
    private const MAX_LEVELS = 90;

    /** Returns a value as JSON; null if it is not plain. */
    public static function json(mixed $value): ?string
    {
        if (!self::isPlain($value, self::MAX_LEVELS)) {
            return null;
        }
        $json = json_encode($value, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION);
        return $json === false ? null : $json;
    }

    /** Returns true if JSON can express the value, with at most this many levels of arrays. */
    private static function isPlain(mixed $value, int $levels): bool
    {
        if ($value === null || is_bool($value) || is_int($value)) {
            return true;
        }
        if (is_float($value)) {
            return is_finite($value);
        }
        if (is_string($value)) {
            return preg_match('//u', $value) === 1;
        }
        if (!is_array($value) || $levels === 0) {
            return false;
        }
        foreach ($value as $key => $item) {
            if ((is_string($key) && preg_match('//u', $key) !== 1) || !self::isPlain($item, $levels - 1)) {
                return false;
            }
        }
        return true;
    }
}
