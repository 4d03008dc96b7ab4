--TEST--
The handler php leaves out names that are numbers
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
--FILE--
<?php
session_start();
$_SESSION = ['a' => 1];
$_SESSION[5] = 2;
var_dump(@session_encode());
session_abort();
?>
--EXPECT--
string(6) "a|i:1;"
