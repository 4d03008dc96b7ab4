--TEST--
Objects of anonymous classes are refused
--FILE--
<?php
try {
    serialize([new class { public $a = 1; }]);
} catch (Exception $e) {
    echo preg_replace('/@anonymous.*\' is/s', "@anonymous' is", $e->getMessage()), "\n";
}
?>
--EXPECT--
Serialization of 'class@anonymous' is not allowed
