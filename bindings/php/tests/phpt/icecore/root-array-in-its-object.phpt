--TEST--
What is written does not depend on whether an object has its table of properties
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
$fresh = unserialize($text);
echo serialize($fresh), "\n";
$seen = unserialize($text);
print_r($seen, true);
echo serialize($seen), "\n";
// PHP writes this too, if the object was built without a table.
$x = [];
$holder = new Holder;
$holder->a = &$x;
$x['k'] = $holder;
echo serialize($x), "\n";
?>
--EXPECT--
a:1:{s:1:"k";O:6:"Holder":1:{s:1:"a";a:1:{s:1:"k";O:6:"Holder":1:{s:1:"a";a:1:{s:1:"k";r:4;}}}}}
a:1:{s:1:"k";O:6:"Holder":1:{s:1:"a";a:1:{s:1:"k";O:6:"Holder":1:{s:1:"a";a:1:{s:1:"k";r:4;}}}}}
a:1:{s:1:"k";O:6:"Holder":1:{s:1:"a";a:1:{s:1:"k";r:2;}}}
