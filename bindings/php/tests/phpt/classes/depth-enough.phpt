--TEST--
max_depth of exactly the depth of the text
--FILE--
<?php
var_dump(unserialize('a:1:{i:0;a:1:{i:0;i:5;}}', ['max_depth' => 2])[0][0]);
?>
--EXPECT--
int(5)
