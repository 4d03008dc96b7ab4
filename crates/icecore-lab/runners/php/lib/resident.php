<?php
// How much memory of this process is resident.

declare(strict_types=1);

/** Bytes that are resident now, and the most since this was asked before; zeros where there is no /proc. */
function resident_memory(): array
{
    $status = is_readable('/proc/self/status') ? file_get_contents('/proc/self/status') : '';
    $bytes = static fn (string $field): int =>
        preg_match("/^$field:\\s+(\\d+) kB/m", $status, $found) === 1 ? 1024 * (int) $found[1] : 0;
    if (is_writable('/proc/self/clear_refs')) {
        file_put_contents('/proc/self/clear_refs', '5');
    }
    return ['resident' => $bytes('VmRSS'), 'peak' => $bytes('VmHWM')];
}
