--TEST--
Scalars are exported as PHP literals
--FILE--
<?php
foreach ([null, true, false, 0, -5, PHP_INT_MAX, 'text', ''] as $value) {
    var_export($value);
    echo "\n";
}
?>
--EXPECT--
NULL
true
false
0
-5
9223372036854775807
'text'
''
