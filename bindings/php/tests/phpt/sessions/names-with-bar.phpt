--TEST--
A name with a bar cannot be written by the handler php
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
--FILE--
<?php
session_start();
$_SESSION = ['a|b' => 1];
var_dump(@session_encode());
session_abort();
?>
--EXPECT--
bool(false)
