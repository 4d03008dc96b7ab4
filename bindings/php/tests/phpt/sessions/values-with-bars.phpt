--TEST--
Values and keys of a session may contain bars
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
--FILE--
<?php
session_start();
$_SESSION = ['a' => 'x|y|z', 'b' => ['k|l' => 1]];
echo $s = session_encode(), "\n";
$_SESSION = [];
session_decode($s);
var_dump($_SESSION === ['a' => 'x|y|z', 'b' => ['k|l' => 1]]);
session_abort();
?>
--EXPECT--
a|s:5:"x|y|z";b|a:1:{s:3:"k|l";i:1;}
bool(true)
