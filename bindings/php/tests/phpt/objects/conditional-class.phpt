--TEST--
Of two classes with one name, the one that was declared is used
--FILE--
<?php
if (PHP_VERSION_ID > 0) {
    class Chosen
    {
        public $a;
    }
} else {
    class Chosen
    {
        private $a;
    }
}
var_dump(unserialize('O:6:"Chosen":1:{s:1:"a";i:1;}')->a);
?>
--EXPECT--
int(1)
