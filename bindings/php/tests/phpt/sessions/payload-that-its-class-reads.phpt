--TEST--
Only the class reads a text that looks like serialized data and is not
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
error_reporting=E_ALL&~E_DEPRECATED
--FILE--
<?php
class Lines implements Serializable
{
    public $lines = [];
    function serialize() { return implode("\n", $this->lines); }
    function unserialize($text) { $this->lines = explode("\n", $text); }
}
session_start();
$lines = new Lines;
$lines->lines = ['a:1:{', 'O:8:"stdClass":0:{}'];
$o = new stdClass;
$_SESSION = ['lines' => $lines, 'o' => $o, 'same' => $o];
$text = session_encode();
unset($o);
$_SESSION = [];
var_dump(session_decode($text));
echo json_encode($_SESSION['lines']->lines), "\n";
var_dump($_SESSION['o'] === $_SESSION['same']);
session_abort();
?>
--EXPECT--
bool(true)
["a:1:{","O:8:\"stdClass\":0:{}"]
bool(true)
