--TEST--
An exception with a closure in its trace is refused
--INI--
zend.exception_ignore_args=0
--FILE--
<?php
function fails($callback)
{
    return new Exception('x');
}
try {
    serialize(fails(fn () => 1));
    echo "written\n";
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Serialization of 'Closure' is not allowed
