--TEST--
A hook may release an object whose typed property another place shares
--FILE--
<?php
class Typed
{
    public int $i = 1;
}
class Holder
{
    public $typed;
    public $same;

    function __wakeup()
    {
        $this->typed = null;
        $this->same = 'text';
    }
}
$v = unserialize('a:2:{i:0;O:6:"Holder":2:{s:5:"typed";O:5:"Typed":1:{s:1:"i";i:5;}s:4:"same";R:4;}i:1;R:4;}');
var_dump($v[1]);
?>
--EXPECT--
string(4) "text"
