#!/usr/bin/env -S php -d memory_limit=-1 -d unserialize_max_depth=0 -d opcache.enable_cli=0
<?php
// Icecore in PHP, with igbinary's bytes.
require getenv('LAB_LIB') . '/icecore.php';

lab_icecore([
    'name' => 'Icecore: igbinary',
    'write' => 'Icecore\igbinary_serialize($value)',
    'read' => 'Icecore\igbinary_unserialize($bytes, $own)',
    'prepare' => static fn (mixed $value): array => ['allowed_classes' => classes_in($value)],
]);
