#!/usr/bin/env -S php -d memory_limit=-1 -d unserialize_max_depth=0 -d opcache.enable_cli=0
<?php
// What no reader can beat: a program that builds the value out of constants.
require getenv('LAB_LIB') . '/lab.php';
require getenv('LAB_LIB') . '/builder.php';

lab([
    'name' => 'construction',
    'role' => 'floor',
    'operations' => ['read'],
    'read' => 'build_value()',
    'prepare' => static function (mixed $value): void {
        (new Builder())->define('build_value', $value);
        if (serialize(build_value()) !== serialize($value)) {
            throw new Cannot('constants and constructors alone do not make it');
        }
    },
]);
