--TEST--
Names that are numbers are left out by the handler php
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
