--TEST--
Floats are written with an exponent beyond some limits
--FILE--
<?php
foreach ([1e14, 1e15, 1e16, 1e17, 1e18, 0.0001, 0.00001, 123456789012345.6] as $f) {
    echo serialize($f), "\n";
}
?>
--EXPECT--
d:100000000000000;
d:1000000000000000;
d:10000000000000000;
d:1.0E+17;
d:1.0E+18;
d:0.0001;
d:1.0E-5;
d:123456789012345.6;
