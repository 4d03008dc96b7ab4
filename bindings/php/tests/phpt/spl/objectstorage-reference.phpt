--TEST--
References in the data of an SplObjectStorage are kept
--FILE--
<?php
$x = 1;
$o = new SplObjectStorage;
$o[new stdClass] = [&$x, &$x];
$b = unserialize(serialize($o));
$b->rewind();
$data = $b->getInfo();
$data[0] = 'new';
var_dump($data[1]);
?>
--EXPECT--
string(3) "new"
