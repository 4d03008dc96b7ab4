--TEST--
Only classes in allowed_classes are built
--FILE--
<?php
class One
{
}
class Two
{
}
foreach (unserialize('a:2:{i:0;O:3:"One":0:{}i:1;O:3:"Two":0:{}}', ['allowed_classes' => ['Two']]) as $o) {
    echo get_class($o), "\n";
}
?>
--EXPECT--
__PHP_Incomplete_Class
Two
