--TEST--
An exception in an autoloader is thrown by unserialize
--FILE--
<?php
spl_autoload_register(function ($name) {
    throw new DomainException("no $name");
});
try {
    unserialize('a:1:{i:0;O:7:"Unknown":0:{}}');
} catch (DomainException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
no Unknown
