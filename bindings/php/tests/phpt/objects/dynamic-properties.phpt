--TEST--
Dynamic properties are written after declared ones
--FILE--
<?php
#[AllowDynamicProperties]
class Open
{
    public $declared = 1;
}
$o = new Open;
$o->extra = 2;
$o->{'with blank'} = 3;
echo $s = serialize($o), "\n";
var_dump(unserialize($s) == $o);
?>
--EXPECT--
O:4:"Open":3:{s:8:"declared";i:1;s:5:"extra";i:2;s:10:"with blank";i:3;}
bool(true)
