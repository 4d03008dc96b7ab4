<?php
// The values that a client can check: `leaves, sum of ids, sum of the lengths of names, type, same
// or other`.
function check(mixed $tree, string $reference): string
{
    $leaves = $ids = $lengths = 0;
    $open = [$tree];
    while ($open !== []) {
        $part = (array) array_pop($open);
        if (isset($part['id'])) {
            $leaves += 1;
            $ids += $part['id'];
            $lengths += strlen($part['name']);
        } else {
            array_push($open, ...array_filter(array_values($part), static fn ($child) => $child !== null));
        }
    }
    $same = serialize($tree) === $reference ? 'same' : 'other';
    return implode(' ', [$leaves, $ids, $lengths, get_debug_type($tree), $same]);
}
