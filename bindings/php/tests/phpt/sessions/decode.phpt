--TEST--
session_decode reads the variables back
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
--FILE--
<?php
session_start();
var_dump(session_decode('a|i:1;b|a:1:{i:0;s:1:"x";}'));
var_dump($_SESSION);
session_abort();
?>
--EXPECT--
bool(true)
array(2) {
  ["a"]=>
  int(1)
  ["b"]=>
  array(1) {
    [0]=>
    string(1) "x"
  }
}
