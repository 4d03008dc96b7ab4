--TEST--
Enum cases in a session survive a round trip
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
--FILE--
<?php
enum Role: string
{
    case Admin = 'a';
}
session_start();
$_SESSION = ['role' => Role::Admin];
echo $s = session_encode(), "\n";
session_decode($s);
var_dump($_SESSION['role']);
session_abort();
?>
--EXPECT--
role|E:10:"Role:Admin";
enum(Role::Admin)
