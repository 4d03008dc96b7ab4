--TEST--
Objects other than stdClass are exported as calls of __set_state
--FILE--
<?php
class Point
{
    public $x = 1;
    protected $y = 2;
    private $z = [3];
}
var_export(new Point);
?>
--EXPECT--
\Point::__set_state(array(
   'x' => 1,
   'y' => 2,
   'z' => 
  array (
    0 => 3,
  ),
))
