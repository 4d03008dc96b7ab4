<?php
// A random generator: choices that depend only on a seed.

declare(strict_types=1);

final class Rng
{
    public static function seed(int $seed, int $case): void
    {
        mt_srand(crc32("$seed:$case"));
    }

    // Returns an integer from 0 to `n` - 1.
    public static function below(int $n): int
    {
        return mt_rand(0, $n - 1);
    }

    // Returns true once in `n` times.
    public static function oneIn(int $n): bool
    {
        return mt_rand(1, $n) === 1;
    }

    public static function pick(array $items): mixed
    {
        return $items[mt_rand(0, count($items) - 1)];
    }

    // Returns one of the keys. The values are their relative frequencies.
    public static function weighted(array $weights): string
    {
        $remaining = mt_rand(1, array_sum($weights));
        foreach ($weights as $key => $weight) {
            if (($remaining -= $weight) <= 0) {
                return (string) $key;
            }
        }
        return (string) $key;
    }
}
