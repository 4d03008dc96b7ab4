--TEST--
A hook may read through a method of an enum
--FILE--
<?php
enum Mode: int
{
    case A = 1;

    static function read(string $text): mixed { return unserialize($text); }
}
class Reads
{
    public $v;

    function __wakeup() { $this->v = Mode::read('a:2:{i:0;E:6:"Mode:A";i:1;r:2;}'); }
}
var_dump(unserialize('O:5:"Reads":0:{}')->v[1]);
?>
--EXPECT--
enum(Mode::A)
