--TEST--
An engine with an invalid state throws an exception
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
foreach (['Random\Engine\Mt19937', 'Random\Engine\PcgOneseq128XslRr64', 'Random\Engine\Xoshiro256StarStar'] as $class) {
    try {
        unserialize('O:' . strlen($class) . ":\"$class\":2:{i:0;a:0:{}i:1;a:1:{i:0;s:2:\"zz\";}}");
    } catch (Exception $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
Invalid serialization data for Random\Engine\Mt19937 object
Invalid serialization data for Random\Engine\PcgOneseq128XslRr64 object
Invalid serialization data for Random\Engine\Xoshiro256StarStar object
