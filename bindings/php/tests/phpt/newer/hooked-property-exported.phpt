--TEST--
var_export shows the result of a get hook
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80400) die('skip needs PHP 8.4');
?>
--FILE--
<?php
class Temperature
{
    public float $celsius = 0.5 {
        get => $this->celsius * 2;
    }
}
var_export(new Temperature);
?>
--EXPECT--
\Temperature::__set_state(array(
   'celsius' => 1.0,
))
