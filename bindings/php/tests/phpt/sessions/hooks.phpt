--TEST--
Hooks of objects in a session are called
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
--FILE--
<?php
class User
{
    public $name = 'n';
    public $conn = 'open';

    function __sleep() { echo "sleep\n"; return ['name']; }
    function __wakeup() { echo "wakeup\n"; $this->conn = 'again'; }
}
session_start();
$_SESSION['user'] = new User;
ob_start();
$s = session_encode();
session_decode($s);
echo ob_get_clean(), $_SESSION['user']->conn, "\n";
session_abort();
?>
--EXPECT--
sleep
wakeup
again
