--TEST--
A failure gives one message, a notice or a warning
--FILE--
<?php
$seen = [];
set_error_handler(function ($level) use (&$seen) {
    $seen[] = $level === (PHP_VERSION_ID < 80300 ? E_NOTICE : E_WARNING);
    return true;
});
unserialize('a:1:{i:0;a:1:{i:0;O:8:"stdClass":1:{s:1:"a";x;}}}');
var_dump($seen);
?>
--EXPECT--
array(1) {
  [0]=>
  bool(true)
}
