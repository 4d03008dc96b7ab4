--TEST--
An object of a missing class in a session is incomplete and is written back
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
--FILE--
<?php
session_start();
session_decode('k|O:4:"None":1:{s:1:"a";i:1;}');
echo get_class($_SESSION['k']), ' ', session_encode(), "\n";
session_abort();
?>
--EXPECT--
__PHP_Incomplete_Class k|O:4:"None":1:{s:1:"a";i:1;}
