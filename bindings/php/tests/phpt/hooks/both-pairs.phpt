--TEST--
__serialize and __unserialize take precedence over __sleep and __wakeup
--FILE--
<?php
class Both
{
    public $a = 1;

    function __serialize(): array { echo "serialize\n"; return ['a' => 2]; }
    function __unserialize(array $data): void { echo "unserialize\n"; }
    function __sleep() { echo "sleep\n"; return ['a']; }
    function __wakeup() { echo "wakeup\n"; }
}
echo $s = serialize(new Both), "\n";
unserialize($s);
?>
--EXPECT--
serialize
O:4:"Both":1:{s:1:"a";i:2;}
unserialize
