--TEST--
With strict types unserialize accepts only strings
--FILE--
<?php
declare(strict_types=1);
try {
    unserialize(5);
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
unserialize(): Argument #1 ($data) must be of type string, int given
