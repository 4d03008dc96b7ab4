#!/usr/bin/env -S php -d memory_limit=-1 -d unserialize_max_depth=0 -d opcache.enable_cli=1 -d opcache.file_update_protection=0
<?php
// The same with a __set_state that makes the object by reflection.
require getenv('LAB_LIB') . '/var_export.php';

lab_var_export_cached([
    'name' => 'var_export + opcache (by reflection)',
    'variant' => 'reflection',
    'scenarios' => ['php-objects'],
]);
