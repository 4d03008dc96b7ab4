--TEST--
A text with exactly max_depth levels is read
--FILE--
<?php
var_dump(unserialize('a:1:{i:0;a:1:{i:0;i:5;}}', ['max_depth' => 2])[0][0]);
?>
--EXPECT--
int(5)
