--TEST--
An array in itself is written as PHP writes it for an object without a table of properties
--SKIPIF--
<?php
if (!ini_get('icecore.replace')) die('skip icecore.replace=1 only');
?>
--FILE--
<?php
class Holder
{
    public $a;
}
$text = 'a:1:{s:1:"k";O:6:"Holder":1:{s:1:"a";R:1;}}';
// The properties of the first object of a class are looked for in its table.
unserialize($text);
$fresh = unserialize($text);
echo serialize($fresh), "\n";
// This makes the table, which PHP's own reader leaves at each object.
print_r($fresh, true);
echo serialize($fresh), "\n";
?>
--EXPECT--
a:1:{s:1:"k";O:6:"Holder":1:{s:1:"a";a:1:{s:1:"k";O:6:"Holder":1:{s:1:"a";a:1:{s:1:"k";r:4;}}}}}
a:1:{s:1:"k";O:6:"Holder":1:{s:1:"a";a:1:{s:1:"k";O:6:"Holder":1:{s:1:"a";N;}}}}
