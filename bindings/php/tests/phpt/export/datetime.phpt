--TEST--
A DateTime is exported by __set_state
--FILE--
<?php
var_export(new DateTime('2020-01-02 03:04:05 UTC'));
?>
--EXPECT--
\DateTime::__set_state(array(
   'date' => '2020-01-02 03:04:05.000000',
   'timezone_type' => 3,
   'timezone' => 'UTC',
))
