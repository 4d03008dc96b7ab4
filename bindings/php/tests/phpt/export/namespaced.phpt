--TEST--
Classes in a namespace begin with a backslash
--FILE--
<?php
namespace App;
class Known
{
    public $a;
}
var_export([new Known]);
?>
--EXPECT--
array (
  0 => 
  \App\Known::__set_state(array(
     'a' => NULL,
  )),
)
