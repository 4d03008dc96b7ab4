--TEST--
References that a loop leaves in properties are not written
--FILE--
<?php
$o = (object) ['a' => 1, 'b' => 2];
foreach ($o as &$v) {
    $v *= 10;
}
echo serialize($o), "\n";
unset($v);
echo serialize($o), "\n";
?>
--EXPECT--
O:8:"stdClass":2:{s:1:"a";i:10;s:1:"b";i:20;}
O:8:"stdClass":2:{s:1:"a";i:10;s:1:"b";i:20;}
