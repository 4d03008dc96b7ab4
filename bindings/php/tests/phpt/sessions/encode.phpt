--TEST--
session_encode writes names and values
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
--FILE--
<?php
session_start();
$_SESSION = ['a' => 1, 'list' => [true, null], 'o' => (object) ['x' => 'y']];
echo session_encode(), "\n";
session_abort();
?>
--EXPECT--
a|i:1;list|a:2:{i:0;b:1;i:1;N;}o|O:8:"stdClass":1:{s:1:"x";s:1:"y";}
