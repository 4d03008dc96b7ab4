--TEST--
The message has the line of the call
--FILE--
<?php
set_error_handler(function ($level, $message, $file, $line) {
    echo basename($file, '.php') !== '' ? $line : 0, "\n";
    return true;
});
unserialize(
    'x'
);
unserialize('x');
?>
--EXPECT--
6
9
