#!/usr/bin/env -S php -d memory_limit=-1 -d unserialize_max_depth=0 -d opcache.enable_cli=0
<?php
// A program that is compiled at each reading. Objects are made by a __set_state that calls the constructor.
require getenv('LAB_LIB') . '/var_export.php';

lab_var_export(['name' => 'var_export + require']);
