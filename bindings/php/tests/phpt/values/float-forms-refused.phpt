--TEST--
unserialize refuses invalid forms of a float
--FILE--
<?php
foreach (['', '.', 'e3', '1e', '0x1', '1,5', ' 1', '1.5.5', '--1'] as $text) {
    echo "'$text' ";
    var_dump(@unserialize("d:$text;"));
}
?>
--EXPECT--
'' bool(false)
'.' bool(false)
'e3' bool(false)
'1e' bool(false)
'0x1' bool(false)
'1,5' bool(false)
' 1' bool(false)
'1.5.5' bool(false)
'--1' bool(false)
