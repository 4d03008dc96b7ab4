--TEST--
A refused object may be deep in the value
--FILE--
<?php
$value = fn () => 1;
for ($i = 0; $i < 50; $i++) {
    $value = $i & 1 ? (object) ['in' => $value] : [$value];
}
try {
    serialize($value);
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Serialization of 'Closure' is not allowed
