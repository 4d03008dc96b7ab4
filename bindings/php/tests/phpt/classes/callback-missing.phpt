--TEST--
An unserialize_callback_func that does not exist is an error
--INI--
unserialize_callback_func=no_such_function
--FILE--
<?php
try {
    unserialize('O:4:"None":0:{}');
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Invalid callback no_such_function, function "no_such_function" not found or invalid function name
