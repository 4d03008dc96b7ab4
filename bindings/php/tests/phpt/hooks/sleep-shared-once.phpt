--TEST--
__sleep of an object that occurs twice is called once
--FILE--
<?php
class Once
{
    function __sleep() { echo "sleep\n"; return []; }
}
$o = new Once;
echo serialize([$o, $o, [$o]]), "\n";
?>
--EXPECT--
sleep
a:3:{i:0;O:4:"Once":0:{}i:1;r:2;i:2;a:1:{i:0;r:2;}}
