--TEST--
Anonymous children of other classes are refused too
--FILE--
<?php
try {
    serialize(new class extends ArrayObject { });
} catch (Exception $e) {
    echo get_class($e), "\n";
}
?>
--EXPECT--
Exception
