--TEST--
The handler php_serialize writes one array
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
session.serialize_handler=php_serialize
--FILE--
<?php
session_start();
$_SESSION = ['a' => 1, 'with|bar' => 2];
echo $s = session_encode(), "\n";
$_SESSION = [];
var_dump(session_decode($s), $_SESSION);
session_abort();
?>
--EXPECT--
a:2:{s:1:"a";i:1;s:8:"with|bar";i:2;}
bool(true)
array(2) {
  ["a"]=>
  int(1)
  ["with|bar"]=>
  int(2)
}
