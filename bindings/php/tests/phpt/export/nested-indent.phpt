--TEST--
Deep nesting indents by two blanks for arrays and three for objects
--FILE--
<?php
class In
{
    public $list = [['deep' => [1]]];
}
var_export(['a' => new In]);
?>
--EXPECT--
array (
  'a' => 
  \In::__set_state(array(
     'list' => 
    array (
      0 => 
      array (
        'deep' => 
        array (
          0 => 1,
        ),
      ),
    ),
  )),
)
