--TEST--
__serialize of an object that occurs twice is called once
--FILE--
<?php
class Once
{
    function __serialize(): array { echo "serialize\n"; return []; }
}
$o = new Once;
echo serialize([$o, $o, [$o]]), "\n";
?>
--EXPECT--
serialize
a:3:{i:0;O:4:"Once":0:{}i:1;r:2;i:2;a:1:{i:0;r:2;}}
