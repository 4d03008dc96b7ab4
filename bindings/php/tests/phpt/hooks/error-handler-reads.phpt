--TEST--
An error handler may read while a reading fails
--FILE--
<?php
set_error_handler(function ($level, $message) {
    var_dump(unserialize('a:1:{i:0;i:7;}')[0]);
    return true;
});
var_dump(unserialize('a:1:{i:0;x}'));
?>
--EXPECT--
int(7)
bool(false)
