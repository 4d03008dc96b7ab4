--TEST--
Time zones and intervals in arrays are exported by __set_state
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
var_export(['z' => new DateTimeZone('+02:00'), 'e' => DateInterval::createFromDateString('1 day')]);
?>
--EXPECT--
array (
  'z' => 
  \DateTimeZone::__set_state(array(
     'timezone_type' => 1,
     'timezone' => '+02:00',
  )),
  'e' => 
  \DateInterval::__set_state(array(
     'from_string' => true,
     'date_string' => '1 day',
  )),
)
