--TEST--
Braces of arrays are required
--FILE--
<?php
foreach (['a:0:', 'a:0:{', 'a:0:}', 'a:0{}', 'a:0:()', 'a:1:{i:0;i:1;', 'a:1:{i:0;i:1;;}'] as $text) {
    echo "$text ";
    var_dump(@unserialize($text));
}
?>
--EXPECT--
a:0: bool(false)
a:0:{ bool(false)
a:0:} bool(false)
a:0{} bool(false)
a:0:() bool(false)
a:1:{i:0;i:1; bool(false)
a:1:{i:0;i:1;;} bool(false)
