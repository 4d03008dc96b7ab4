#!/usr/bin/env -S php -d memory_limit=-1 -d unserialize_max_depth=0 -d opcache.enable_cli=0
<?php
// unserialize that makes objects of a list of classes only, as data from outside asks for.
require getenv('LAB_LIB') . '/lab.php';

lab([
    'name' => 'unserialize (list of classes)',
    'operations' => ['read'],
    'write' => 'serialize($value)',
    'read' => 'unserialize($bytes, $own)',
    'prepare' => static fn (mixed $value): array => ['allowed_classes' => classes_in($value)],
]);
