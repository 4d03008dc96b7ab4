#!/usr/bin/env -S php -d memory_limit=-1 -d unserialize_max_depth=0 -d opcache.enable_cli=1 -d opcache.file_update_protection=0 -d opcache.memory_consumption=1024 -d opcache.interned_strings_buffer=64 -d opcache.max_accelerated_files=100000
<?php
// A program that stays compiled in opcache, with limits that are large enough.
require getenv('LAB_LIB') . '/var_export.php';

lab_var_export_cached(['name' => 'var_export + large opcache']);
