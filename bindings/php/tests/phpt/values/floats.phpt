--TEST--
Floats are written with the fewest digits that read back to the same float
--FILE--
<?php
foreach ([0.1, 1.5, 100.0, 1/3, 1e100, 1e-7, 123456789012345678.0, 1e15, 1e21, PHP_FLOAT_MAX, PHP_FLOAT_MIN, PHP_FLOAT_EPSILON, 4.9E-324] as $f) {
    echo $s = serialize($f), ' ', var_export(unserialize($s) === $f, true), "\n";
}
?>
--EXPECT--
d:0.1; true
d:1.5; true
d:100; true
d:0.3333333333333333; true
d:1.0E+100; true
d:1.0E-7; true
d:1.2345678901234568E+17; true
d:1000000000000000; true
d:1.0E+21; true
d:1.7976931348623157E+308; true
d:2.2250738585072014E-308; true
d:2.220446049250313E-16; true
d:5.0E-324; true
