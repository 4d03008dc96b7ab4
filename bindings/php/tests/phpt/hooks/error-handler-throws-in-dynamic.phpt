--TEST--
An exception of an error handler at a dynamic property ends the reading
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
set_error_handler(function ($level, $message) {
    throw new ErrorException($message);
});
class Closed
{
}
try {
    unserialize('a:2:{i:0;O:6:"Closed":1:{s:1:"x";i:1;}i:1;O:6:"Closed":0:{}}');
} catch (ErrorException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Creation of dynamic property Closed::$x is deprecated
