--TEST--
Quotes and backslashes in strings are escaped
--FILE--
<?php
foreach (["it's", 'back\\slash', "\\'", "new\nline", "\t", '$x {$y}', "grüße", '"'] as $value) {
    var_export($value);
    echo "\n";
}
?>
--EXPECT--
'it\'s'
'back\\slash'
'\\\''
'new
line'
'	'
'$x {$y}'
'grüße'
'"'
