--TEST--
An exception that was read can be thrown
--FILE--
<?php
try {
    throw unserialize(serialize(new OutOfBoundsException('again', 3)));
} catch (OutOfBoundsException $e) {
    echo $e->getMessage(), ' ', $e->getCode(), "\n";
}
?>
--EXPECT--
again 3
