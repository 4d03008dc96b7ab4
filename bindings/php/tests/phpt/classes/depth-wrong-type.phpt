--TEST--
max_depth must be an integer that is not negative
--FILE--
<?php
foreach ([-1, '5', null, 1.5, true] as $value) {
    try {
        var_dump(unserialize('i:1;', ['max_depth' => $value]));
    } catch (TypeError | ValueError $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
}
?>
--EXPECTF--
ValueError: unserialize(): Option "max_depth" must be greater than or equal to 0
TypeError: unserialize(): Option "max_depth" must be of type int, string given
TypeError: unserialize(): Option "max_depth" must be of type int, null given
TypeError: unserialize(): Option "max_depth" must be of type int, float given
TypeError: unserialize(): Option "max_depth" must be of type int, %s given
