--TEST--
NUL bytes in strings and keys are exported as "\0"
--FILE--
<?php
var_export("a\0b\0");
echo "\n";
var_export(["k\0" => "\0"]);
?>
--EXPECT--
'a' . "\0" . 'b' . "\0" . ''
array (
  'k' . "\0" . '' => '' . "\0" . '',
)
