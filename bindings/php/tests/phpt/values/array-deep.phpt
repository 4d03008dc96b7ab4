--TEST--
Arrays may be nested as deep as max_depth
--FILE--
<?php
$text = str_repeat('a:1:{i:0;', 4000) . 'i:1;' . str_repeat('}', 4000);
$value = unserialize($text);
$depth = 0;
while (is_array($value)) {
    $value = $value[0];
    $depth++;
}
var_dump($depth);
?>
--EXPECT--
int(4000)
