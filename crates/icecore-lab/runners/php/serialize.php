#!/usr/bin/env -S php -d memory_limit=-1 -d unserialize_max_depth=0 -d opcache.enable_cli=0
<?php
require getenv('LAB_LIB') . '/lab.php';

lab([
    'name' => 'serialize',
    'write' => 'serialize($value)',
    'read' => 'unserialize($bytes)',
]);
