<?php
// The value as a program: var_export writes it, require reads it.

declare(strict_types=1);

require __DIR__ . '/lab.php';

/** A runner of this kind; `$changes` are added to it. */
function lab_var_export(array $changes): void
{
    lab($changes + [
        'variant' => 'constructor',
        'write' => "'<?php return ' . var_export(\$value, true) . ';'",
        'read' => 'require $path',
        'reads_file' => true,
        'prepare' => objects_must_have_set_state(...),
    ]);
}

/**
 * The same with the cache of compiled programs. A file that is written anew would still be read
 * from the cache, so there is no round trip.
 */
function lab_var_export_cached(array $changes): void
{
    lab_var_export($changes + [
        'extension' => 'Zend OPcache',
        'package' => 'opcache',
        'operations' => ['write', 'read'],
        'note' => in_opcache(...),
    ]);
}

function objects_must_have_set_state(mixed $value): void
{
    foreach (classes_in($value) as $class) {
        if ($class !== stdClass::class && !method_exists($class, '__set_state')) {
            throw new Cannot("the class $class has no __set_state");
        }
    }
}

/** Whether the cache has the file, and how full it is. */
function in_opcache(string $path): string
{
    $status = opcache_get_status();
    if ($status === false) {
        return 'opcache is off';
    }
    $megabytes = static fn (int|float $bytes): string => sprintf('%.1f MB', $bytes / (1 << 20));
    $memory = $status['memory_usage'];
    $all = $memory['used_memory'] + $memory['free_memory'] + $memory['wasted_memory'];
    $script = $status['scripts'][realpath($path)] ?? null;
    return $script === null
        ? sprintf('not in opcache: no room for it in %s', $megabytes($all))
        : sprintf('in opcache: takes %s of %s', $megabytes($script['memory_consumption']), $megabytes($all));
}
