--TEST--
A C: object is refused if PHP refuses its class
--SKIPIF--
<?php
if (!function_exists('Icecore\decode')) die('skip needs Icecore');
?>
--FILE--
<?php
foreach (['Closure', 'Generator', 'PDO', 'SimpleXMLElement'] as $class) {
    $text = 'C:' . strlen($class) . ":\"$class\":0:{}";
    foreach ([
        fn () => Icecore\unserialize($text, ['classes' => 'any']),
        fn () => Icecore\decode($text, 'php', ['classes' => 'any']),
        fn () => Icecore\igbinary_unserialize(Icecore\convert($text, 'php', 'igbinary'), ['classes' => 'any']),
    ] as $read) {
        try {
            echo class_exists($class) ? get_debug_type($read()) : "Unserialization of '$class' is not allowed", "\n";
        } catch (Exception $e) {
            echo $e->getMessage(), "\n";
        }
    }
}
?>
--EXPECT--
Unserialization of 'Closure' is not allowed
Unserialization of 'Closure' is not allowed
Unserialization of 'Closure' is not allowed
Unserialization of 'Generator' is not allowed
Unserialization of 'Generator' is not allowed
Unserialization of 'Generator' is not allowed
Unserialization of 'PDO' is not allowed
Unserialization of 'PDO' is not allowed
Unserialization of 'PDO' is not allowed
Unserialization of 'SimpleXMLElement' is not allowed
Unserialization of 'SimpleXMLElement' is not allowed
Unserialization of 'SimpleXMLElement' is not allowed
