--TEST--
An object in an array that two variables share is written twice if one of them is the array
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
error_reporting=E_ALL&~E_DEPRECATED
--FILE--
<?php
session_start();
$list = [new stdClass];
$_SESSION = ['x' => $list, 'y' => [$list]];
echo session_encode(), "\n";
$_SESSION = ['x' => [$list], 'y' => $list];
echo session_encode(), "\n";
$_SESSION = ['x' => [$list], 'y' => [$list]];
echo session_encode(), "\n";
session_abort();
?>
--EXPECT--
x|a:1:{i:0;O:8:"stdClass":0:{}}y|a:1:{i:0;a:1:{i:0;O:8:"stdClass":0:{}}}
x|a:1:{i:0;a:1:{i:0;O:8:"stdClass":0:{}}}y|a:1:{i:0;r:3;}
x|a:1:{i:0;a:1:{i:0;O:8:"stdClass":0:{}}}y|a:1:{i:0;a:1:{i:0;r:3;}}
