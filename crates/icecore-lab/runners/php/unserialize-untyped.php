#!/usr/bin/env -S php -d memory_limit=-1 -d unserialize_max_depth=0 -d opcache.enable_cli=0
<?php
// Classes without types: what the types of the properties cost unserialize.
require getenv('LAB_LIB') . '/lab.php';

lab([
    'name' => 'serialize (untyped classes)',
    'variant' => 'untyped',
    'scenarios' => ['php-objects'],
    'write' => 'serialize($value)',
    'read' => 'unserialize($bytes)',
]);
