--TEST--
An exception in an autoloader ends the reading
--FILE--
<?php
spl_autoload_register(function ($name) {
    echo "load $name\n";
    throw new DomainException($name);
});
try {
    unserialize('a:2:{i:0;O:5:"First":0:{}i:1;O:6:"Second":0:{}}');
} catch (DomainException $e) {
    echo 'caught ', $e->getMessage(), "\n";
}
?>
--EXPECT--
load First
caught First
