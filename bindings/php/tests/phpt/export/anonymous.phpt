--TEST--
Anonymous classes can be exported
--FILE--
<?php
echo preg_replace('/@anonymous.*?::/s', '@anonymous::', var_export(new class { public $a = 1; }, true)), "\n";
?>
--EXPECT--
\class@anonymous::__set_state(array(
   'a' => 1,
))
