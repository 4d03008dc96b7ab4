#!/usr/bin/env -S php -d memory_limit=-1 -d unserialize_max_depth=0 -d opcache.enable_cli=0
<?php
require getenv('LAB_LIB') . '/lab.php';

lab([
    'name' => 'igbinary',
    'extension' => 'igbinary',
    'write' => 'igbinary_serialize($value)',
    'read' => 'igbinary_unserialize($bytes)',
]);
