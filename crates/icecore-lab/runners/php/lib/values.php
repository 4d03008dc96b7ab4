<?php
// Values of PHP, looked at from outside.

declare(strict_types=1);

/** The value of a reference. */
function thaw_reference(string $text): mixed
{
    return unserialize($text, ['max_depth' => 0]);
}

/** The names of the classes that occur in a value. */
function classes_in(mixed $value): array
{
    $classes = $seen = [];
    $open = [$value];
    // Arrays that contain themselves have no end, and no other mark to know them by.
    for ($left = 50_000_000; $open !== [] && $left > 0; --$left) {
        $part = array_pop($open);
        if (is_object($part)) {
            if (isset($seen[spl_object_id($part)])) {
                continue;
            }
            $seen[spl_object_id($part)] = true;
            $classes[$part::class] = true;
            $part = (array) $part;
        }
        if (is_array($part)) {
            foreach ($part as $child) {
                if (is_array($child) || is_object($child)) {
                    $open[] = $child;
                }
            }
        }
    }
    if ($open !== []) {
        throw new Cannot('the data has no end');
    }
    return array_keys($classes);
}
