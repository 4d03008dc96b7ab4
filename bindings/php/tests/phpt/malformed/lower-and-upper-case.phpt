--TEST--
Type letters in the wrong case are malformed
--FILE--
<?php
foreach (['I:1;', 'B:1;', 'n;', 'A:0:{}', 'D:1;'] as $text) {
    var_dump(@unserialize($text));
}
?>
--EXPECT--
bool(false)
bool(false)
bool(false)
bool(false)
bool(false)
