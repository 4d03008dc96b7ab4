--TEST--
A link can refer to one of many properties of an incomplete object
--FILE--
<?php
$text = 'a:2:{i:0;O:4:"None":8:{';
for ($i = 0; $i < 8; $i++) {
    $text .= "s:1:\"$i\";i:$i;";
}
$v = unserialize($text . '}i:1;R:3;}');
$v[1] = 'new';
var_dump(((array) $v[0])[0]);
?>
--EXPECT--
string(3) "new"
