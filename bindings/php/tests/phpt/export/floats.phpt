--TEST--
Exported floats always have a point or an exponent
--FILE--
<?php
foreach ([1.0, -0.0, 1.5, 1e100, 0.1, 1e15, INF, -INF, NAN, 123456789.0] as $value) {
    var_export($value);
    echo "\n";
}
?>
--EXPECT--
1.0
-0.0
1.5
1.0E+100
0.1
1000000000000000.0
INF
-INF
NAN
123456789.0
