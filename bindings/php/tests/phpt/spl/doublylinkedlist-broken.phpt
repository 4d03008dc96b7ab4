--TEST--
An SplDoublyLinkedList with missing or invalid data throws an exception
--FILE--
<?php
foreach (['0:{}', '3:{i:0;s:1:"x";i:1;a:0:{}i:2;a:0:{}}', '3:{i:0;i:0;i:1;i:5;i:2;a:0:{}}'] as $rest) {
    try {
        var_dump(unserialize('O:19:"SplDoublyLinkedList":' . $rest));
    } catch (Exception $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
UnexpectedValueException: Incomplete or ill-typed serialization data
UnexpectedValueException: Incomplete or ill-typed serialization data
UnexpectedValueException: Incomplete or ill-typed serialization data
