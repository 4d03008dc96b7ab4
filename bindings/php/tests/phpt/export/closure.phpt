--TEST--
A closure is exported without its code
--FILE--
<?php
var_export(fn () => 1);
?>
--EXPECT--
\Closure::__set_state(array(
))
