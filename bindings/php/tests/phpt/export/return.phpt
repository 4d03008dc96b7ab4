--TEST--
With true as the second argument the text is returned
--FILE--
<?php
$text = var_export(['a' => 1], true);
var_dump($text);
var_dump(var_export(1));
?>
--EXPECT--
string(21) "array (
  'a' => 1,
)"
1NULL
