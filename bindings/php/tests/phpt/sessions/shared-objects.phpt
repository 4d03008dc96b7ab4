--TEST--
An object in two variables of a session is one object after reading
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
--FILE--
<?php
session_start();
$o = new stdClass;
$_SESSION = ['a' => $o, 'b' => [$o]];
echo $s = session_encode(), "\n";
session_decode($s);
var_dump($_SESSION['a'] === $_SESSION['b'][0]);
session_abort();
?>
--EXPECT--
a|O:8:"stdClass":0:{}b|a:1:{i:0;r:1;}
bool(true)
