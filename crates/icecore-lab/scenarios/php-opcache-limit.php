<?php
// The same classes as in php-objects.
require_once __DIR__ . '/php-objects.php';
