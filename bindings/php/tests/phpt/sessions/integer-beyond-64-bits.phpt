--TEST--
An integer beyond 64 bits is cut, with a warning
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
error_reporting=E_ALL&~E_DEPRECATED
--FILE--
<?php
session_start();
var_dump(session_decode('a|i:99999999999999999999;b|a:1:{i:0;i:-99999999999999999999;}c|i:1;'));
var_dump($_SESSION);
session_abort();
?>
--EXPECTF--
Warning: session_decode(): Numerical result out of range in %s on line %d

Warning: session_decode(): Numerical result out of range in %s on line %d
bool(true)
array(3) {
  ["a"]=>
  int(9223372036854775807)
  ["b"]=>
  array(1) {
    [0]=>
    int(-9223372036854775808)
  }
  ["c"]=>
  int(1)
}
