--TEST--
An exception that an error handler makes of a warning in a hook is thrown
--FILE--
<?php
set_error_handler(function ($level, $message) {
    throw new ErrorException($message);
});
class Warns
{
    function __sleep() { return ['missing']; }
}
try {
    serialize([new Warns]);
} catch (ErrorException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
serialize(): "missing" returned as member variable from __sleep() but does not exist
