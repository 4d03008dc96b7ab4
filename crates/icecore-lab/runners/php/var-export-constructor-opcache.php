#!/usr/bin/env -S php -d memory_limit=-1 -d unserialize_max_depth=0 -d opcache.enable_cli=1 -d opcache.file_update_protection=0
<?php
// A program that stays compiled in opcache, whose limits are as it has them by default.
require getenv('LAB_LIB') . '/var_export.php';

lab_var_export_cached(['name' => 'var_export + opcache']);
