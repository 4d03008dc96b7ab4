--TEST--
An anonymous class with hooks is refused too
--FILE--
<?php
try {
    serialize(new class {
        function __serialize(): array { echo "called\n"; return []; }
        function __sleep() { echo "called\n"; return []; }
    });
} catch (Exception $e) {
    echo get_class($e), "\n";
}
?>
--EXPECT--
Exception
