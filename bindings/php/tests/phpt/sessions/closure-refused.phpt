--TEST--
A closure in a session is refused
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
--FILE--
<?php
session_start();
$_SESSION['c'] = fn () => 1;
try {
    session_encode();
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
unset($_SESSION['c']);
session_abort();
?>
--EXPECT--
Serialization of 'Closure' is not allowed
