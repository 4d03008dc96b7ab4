#!/usr/bin/env -S php -d memory_limit=-1 -d unserialize_max_depth=0 -d opcache.enable_cli=0
<?php
// Classes with __serialize and __unserialize written by hand.
require getenv('LAB_LIB') . '/lab.php';

lab([
    'name' => 'serialize (manual hooks)',
    'variant' => 'manual',
    'scenarios' => ['php-objects'],
    'write' => 'serialize($value)',
    'read' => 'unserialize($bytes)',
]);
