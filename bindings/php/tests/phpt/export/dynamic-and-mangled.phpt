--TEST--
Property names are quoted and escaped
--FILE--
<?php
var_export((object) ["it's" => 1, "back\\slash" => 2, '' => 3]);
?>
--EXPECT--
(object) array(
   'it\'s' => 1,
   'back\\slash' => 2,
   '' => 3,
)
