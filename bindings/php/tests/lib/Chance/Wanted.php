<?php
// Differences from PHP that are wanted. Nothing else may differ.

declare(strict_types=1);

final class Wanted
{
    public const WHY = [
        'no hook on failure' => 'PHP runs hooks and destructors of objects that stand before the place where it fails; Icecore runs none',
        'refused before building' => 'PHP builds, warns and throws until it comes to bytes that are malformed; Icecore looks at all bytes first',
        'igbinary refuses in its own words' => 'the igbinary extension says each error in words and offsets of its own; both refuse',
    ];

    // The name of the difference, or null where it is none of these. $bare is what PHP
    // says when it builds no class at all.
    public static function unserialize(Outcome $ours, Outcome $php, Outcome $bare): ?string
    {
        $hasRun = $ours->log || $ours->dropped;
        if ($ours->plain !== false || $hasRun) {
            return null;
        }
        if ($php->plain === false && $ours->warnings === $php->warnings) {
            return 'no hook on failure';
        }
        if ($bare->plain === false && $ours->warnings === $bare->warnings) {
            return 'refused before building';
        }
        // PHP stops at an enum or a payload of a class; what is malformed is behind it.
        $offset = fn (Outcome $of) => preg_match('/Error at offset (\d+)/', (string) end($of->warnings + ['']), $found) ? (int) $found[1] : null;
        $isOneNotice = count($ours->warnings) === 1 && $offset($ours) !== null;
        return $isOneNotice && $php->isFailure() && $bare->plain === false && count($bare->warnings) > 1 && $offset($ours) >= (int) $offset($bare) ? 'refused before building' : null;
    }
}
