--TEST--
The class of a C: object is loaded
--FILE--
<?php
spl_autoload_register(function ($name) {
    echo "load $name\n";
    eval('class Text implements Serializable {
        function serialize() { return ""; }
        function unserialize($text) { echo "read $text\n"; }
        function __serialize(): array { return []; }
        function __unserialize(array $data): void { }
    }');
});
unserialize('C:4:"Text":2:{ab}');
?>
--EXPECT--
load Text
read ab
