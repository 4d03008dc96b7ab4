#!/usr/bin/env -S php -d memory_limit=-1 -d unserialize_max_depth=0 -d opcache.enable_cli=0
<?php
// Objects come back as arrays.
require getenv('LAB_LIB') . '/lab.php';

lab([
    'name' => 'json_encode',
    'extension' => 'json',
    'write' => 'json_encode($value, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION, 0x7ffffffe)',
    'read' => 'json_decode($bytes, true, 0x7ffffffe, JSON_THROW_ON_ERROR)',
    'operations' => ['write', 'read', 'round-trip'],
]);
