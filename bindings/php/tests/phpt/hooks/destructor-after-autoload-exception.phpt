--TEST--
Objects that precede a class whose autoloader throws are destroyed
--FILE--
<?php
class Noisy
{
    function __destruct() { echo "destroyed\n"; }
}
spl_autoload_register(function ($name) {
    throw new DomainException("no $name");
});
try {
    unserialize('a:2:{i:0;O:5:"Noisy":0:{}i:1;O:4:"None":0:{}}');
} catch (DomainException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
destroyed
no None
