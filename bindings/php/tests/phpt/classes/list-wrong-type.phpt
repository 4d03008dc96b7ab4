--TEST--
allowed_classes must be an array or a boolean
--FILE--
<?php
foreach ([5, 'stdClass', null, 1.5, new stdClass] as $value) {
    try {
        var_dump(unserialize('i:1;', ['allowed_classes' => $value]));
    } catch (TypeError $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
unserialize(): Option "allowed_classes" must be of type array|bool, int given
unserialize(): Option "allowed_classes" must be of type array|bool, string given
unserialize(): Option "allowed_classes" must be of type array|bool, null given
unserialize(): Option "allowed_classes" must be of type array|bool, float given
unserialize(): Option "allowed_classes" must be of type array|bool, stdClass given
