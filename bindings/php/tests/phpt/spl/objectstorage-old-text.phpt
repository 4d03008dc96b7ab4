--TEST--
The older text of an SplObjectStorage, with C:, is read
--FILE--
<?php
$o = unserialize('C:16:"SplObjectStorage":51:{x:i:1;O:8:"stdClass":1:{s:1:"a";i:1;},i:5;;m:a:0:{}}');
foreach ($o as $object) {
    var_dump($object->a, $o[$object]);
}
?>
--EXPECT--
int(1)
int(5)
