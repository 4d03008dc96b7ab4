--TEST--
An exception in unserialize_callback_func ends the reading
--FILE--
<?php
function load($name)
{
    throw new DomainException($name);
}
ini_set('unserialize_callback_func', 'load');
try {
    unserialize('O:4:"None":0:{}');
} catch (DomainException $e) {
    echo 'caught ', $e->getMessage(), "\n";
}
?>
--EXPECT--
caught None
