--TEST--
No element can be appended after the greatest integer key
--FILE--
<?php
$list = unserialize('a:1:{i:9223372036854775807;i:0;}');
try {
    $list[] = 1;
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Cannot add element to the array as the next element is already occupied
