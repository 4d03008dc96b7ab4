--TEST--
An exception in a hook ends the encoding of a session
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
--FILE--
<?php
class Throws
{
    function __serialize(): array { throw new DomainException('from a session'); }
}
session_start();
$_SESSION['t'] = new Throws;
try {
    session_encode();
} catch (DomainException $e) {
    echo $e->getMessage(), "\n";
}
session_abort();
?>
--EXPECT--
from a session
