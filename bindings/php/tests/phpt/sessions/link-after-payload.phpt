--TEST--
A link to a variable after an object with a text of its own finds its target
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
error_reporting=E_ALL&~E_DEPRECATED
--FILE--
<?php
class Box implements Serializable
{
    public $in = 0;
    function serialize() { return serialize($this->in); }
    function unserialize($text) { $this->in = unserialize($text); }
}
session_start();
$o = new stdClass;
$_SESSION = ['a' => new Box, 'b' => $o, 'c' => $o];
echo $text = session_encode(), "\n";
unset($o);
$_SESSION = [];
var_dump(session_decode($text));
var_dump($_SESSION['b'] === $_SESSION['c'], $_SESSION['a']->in);
session_abort();
?>
--EXPECT--
a|C:3:"Box":4:{i:0;}b|O:8:"stdClass":0:{}c|r:3;
bool(true)
bool(true)
int(0)
