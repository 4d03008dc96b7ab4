--TEST--
The handler php can't write a name with a bar
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
