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
 * The same with the cache of compiled programs. A file that is written again would still be read
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

/** A remark if the cache does not have the file. */
function in_opcache(string $path): ?string
{
    $status = opcache_get_status(false);
    if ($status === false) {
        return 'opcache is off';
    }
    if (opcache_is_script_cached($path)) {
        return null;
    }
    $all = array_sum(array_intersect_key($status['memory_usage'], ['used_memory' => 0, 'free_memory' => 0, 'wasted_memory' => 0]));
    $megabytes = static fn (int|float $bytes): string => sprintf('%.1f MB', $bytes / (1 << 20));
    return "its file of {$megabytes(filesize($path))} finds no room in opcache, which has {$megabytes($all)}";
}
