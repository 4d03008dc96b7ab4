--TEST--
The handler php_binary writes the lengths of names
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
session.serialize_handler=php_binary
--FILE--
<?php
session_start();
$_SESSION = ['abc' => 5];
echo bin2hex($s = session_encode()), "\n";
$_SESSION = [];
session_decode($s);
var_dump($_SESSION);
session_abort();
?>
--EXPECT--
03616263693a353b
array(1) {
  ["abc"]=>
  int(5)
}
