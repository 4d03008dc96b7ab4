--TEST--
An empty session is encoded as false and decoded from an empty text
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
--FILE--
<?php
session_start();
var_dump(session_encode(), session_decode(''), $_SESSION);
session_abort();
?>
--EXPECT--
bool(false)
bool(true)
array(0) {
}
