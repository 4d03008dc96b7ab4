--TEST--
Both functions can be called by a name in a variable
--FILE--
<?php
$s = 'serialize';
echo $s(5), call_user_func('serialize', 'x'), "\n";
var_dump(array_map('unserialize', ['i:1;', 'b:1;']), call_user_func_array('unserialize', ['data' => 'i:7;']));
?>
--EXPECT--
i:5;s:1:"x";
array(2) {
  [0]=>
  int(1)
  [1]=>
  bool(true)
}
int(7)
