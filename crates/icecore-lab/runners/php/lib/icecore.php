<?php
// Icecore's extension: the one that is installed, or the one of LAB_MODULES, for which PHP
// takes the place of itself once more.

declare(strict_types=1);

require __DIR__ . '/lab.php';

/** A runner of Icecore; `$runner` is what lab() takes. */
function lab_icecore(array $runner): void
{
    $built = realpath(getenv('LAB_MODULES') . '/php/modules/icecore.so');
    if (!extension_loaded('icecore') && $built !== false && function_exists('pcntl_exec')) {
        $script = $_SERVER['SCRIPT_FILENAME'];
        preg_match_all('/ -d (\S+)/', strtok(file_get_contents($script), "\n"), $settings);
        $arguments = array_merge(...array_map(static fn (string $setting): array => ['-d', $setting], [...$settings[1], "extension=$built"]));
        pcntl_exec(PHP_BINARY, [...$arguments, $script]);
    }
    lab($runner + ['extension' => 'icecore', 'install' => 'make install-modules']);
}
