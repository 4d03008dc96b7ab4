--TEST--
An error handler may throw an exception
--FILE--
<?php
set_error_handler(function ($level, $message) {
    throw new ErrorException($message, 0, $level);
});
try {
    unserialize('i:1');
} catch (ErrorException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
unserialize(): Error at offset 0 of 3 bytes
