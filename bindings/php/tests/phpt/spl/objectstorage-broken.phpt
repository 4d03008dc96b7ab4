--TEST--
An SplObjectStorage whose data are not pairs throws an exception
--FILE--
<?php
foreach (['0:{}', '2:{i:0;a:1:{i:0;O:8:"stdClass":0:{}}i:1;a:0:{}}', '2:{i:0;a:2:{i:0;i:1;i:1;i:2;}i:1;a:0:{}}'] as $rest) {
    try {
        var_dump(unserialize('O:16:"SplObjectStorage":' . $rest));
    } catch (Exception $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
UnexpectedValueException: Incomplete or ill-typed serialization data
UnexpectedValueException: Odd number of elements
UnexpectedValueException: Non-object key
