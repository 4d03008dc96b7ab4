--TEST--
Hooks of the variables before a name that is refused or skipped are called first
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
--FILE--
<?php
class Sleeps
{
    public $a = 1;
    function __sleep() { echo "sleeps\n"; return ['a']; }
}
session_start();
$_SESSION = ['first' => new Sleeps, 'a|b' => 1, 'last' => new Sleeps];
var_dump(session_encode());
$_SESSION = ['first' => new Sleeps, 5 => 1, 'last' => new Sleeps];
var_dump(session_encode());
$_SESSION = [5 => 1];
var_dump(session_encode());
session_abort();
?>
--EXPECTF--
sleeps
bool(false)
sleeps

Warning: session_encode(): Skipping numeric key 5 in %s on line %d
sleeps
string(69) "first|O:6:"Sleeps":1:{s:1:"a";i:1;}last|O:6:"Sleeps":1:{s:1:"a";i:1;}"

Warning: session_encode(): Skipping numeric key 5 in %s on line %d
bool(false)
