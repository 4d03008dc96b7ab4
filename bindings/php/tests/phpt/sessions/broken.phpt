--TEST--
Malformed session data is refused
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
--FILE--
<?php
session_start();
$_SESSION = ['keep' => 1];
var_dump(@session_decode('a|i:1;b|x:1;'));
session_abort();
?>
--EXPECT--
bool(false)
