#!/usr/bin/env -S php -d memory_limit=-1 -d unserialize_max_depth=0 -d opcache.enable_cli=0
<?php
// The same with a __set_state that makes the object by reflection.
require getenv('LAB_LIB') . '/var_export.php';

lab_var_export([
    'name' => 'var_export + require (by reflection)',
    'variant' => 'reflection',
    'scenarios' => ['php-objects'],
]);
