--TEST--
An array that was read and that an object in it refers to is written the same each time
--SKIPIF--
<?php
if (ini_get('icecore.replace')) die('xfail the second time differs');
?>
--FILE--
<?php
class Holder
{
    public $a;
}
for ($i = 0; $i < 2; $i++) {
    $v = unserialize('a:1:{s:1:"k";O:6:"Holder":1:{s:1:"a";R:1;}}');
    echo serialize($v), "\n";
    unset($v);
}
?>
--EXPECT--
a:1:{s:1:"k";O:6:"Holder":1:{s:1:"a";a:1:{s:1:"k";O:6:"Holder":1:{s:1:"a";N;}}}}
a:1:{s:1:"k";O:6:"Holder":1:{s:1:"a";a:1:{s:1:"k";O:6:"Holder":1:{s:1:"a";N;}}}}
