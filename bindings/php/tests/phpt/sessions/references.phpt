--TEST--
References between variables of a session are kept
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
--FILE--
<?php
session_start();
$x = 1;
$_SESSION = ['a' => &$x, 'b' => &$x];
echo $s = session_encode(), "\n";
unset($x);
$_SESSION = [];
session_decode($s);
$_SESSION['a'] = 'new';
var_dump($_SESSION['b']);
session_abort();
?>
--EXPECT--
a|i:1;b|R:1;
string(3) "new"
