--TEST--
A link in the text of an object finds an object of another variable
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
var_dump(session_decode('a|O:8:"stdClass":0:{}b|i:1;c|C:3:"Box":4:{r:1;}'));
var_dump($_SESSION['c']->in === $_SESSION['a']);
echo session_encode(), "\n";
var_dump(session_decode('a|C:3:"Box":19:{O:8:"stdClass":0:{}}b|C:3:"Box":4:{r:2;}7|i:5;'));
var_dump($_SESSION['a']->in === $_SESSION['b']->in, array_keys($_SESSION));
session_abort();
?>
--EXPECT--
bool(true)
bool(true)
a|O:8:"stdClass":0:{}b|i:1;c|C:3:"Box":4:{r:1;}
bool(true)
bool(true)
array(4) {
  [0]=>
  string(1) "a"
  [1]=>
  string(1) "b"
  [2]=>
  string(1) "c"
  [3]=>
  string(1) "7"
}
