<?php
// Random choices by a seed.

declare(strict_types=1);

final class Dice
{
    public static function seed(int $seed, int $case): void
    {
        mt_srand(crc32("$seed:$case"));
    }

    public static function below(int $n): int
    {
        return mt_rand(0, $n - 1);
    }

    public static function one(int $in): bool
    {
        return mt_rand(1, $in) === 1;
    }

    public static function pick(array $from): mixed
    {
        return $from[mt_rand(0, count($from) - 1)];
    }

    // Returns one of the keys, with the frequency that its number gives.
    public static function weighted(array $weights): string
    {
        $left = mt_rand(1, array_sum($weights));
        foreach ($weights as $key => $weight) {
            if (($left -= $weight) <= 0) {
                return (string) $key;
            }
        }
        return (string) $key;
    }
}
