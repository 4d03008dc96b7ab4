--TEST--
Integers keep their value up to both ends of 64 bits
--FILE--
<?php
foreach ([0, 1, -1, 10, -10, 2147483647, -2147483648, 2147483648, PHP_INT_MAX, PHP_INT_MIN] as $i) {
    echo $s = serialize($i), ' ', var_export(unserialize($s) === $i, true), "\n";
}
?>
--EXPECT--
i:0; true
i:1; true
i:-1; true
i:10; true
i:-10; true
i:2147483647; true
i:-2147483648; true
i:2147483648; true
i:9223372036854775807; true
i:-9223372036854775808; true
