--TEST--
Malformed payloads of ArrayObject, SplObjectStorage and SplDoublyLinkedList
--FILE--
<?php
foreach ([
    'ArrayObject' => ['y:i:0;', 'x:i:0', 'x:i:0;i:5;;m:a:0:{}', 'x:i:0;a:1:{i:0;};m:a:0:{}', 'x:i:0;a:0:{}m:a:0:{}',
        'x:i:0;a:0:{};m:i:0;', 'x:i:0;a:0:{};m:a:1:{', 'x:i:16777216;m:a:0:{}', 'x:i:0;r:7;;m:a:0:{}', "\0", 'x:b:1;'],
    'SplObjectStorage' => ['x:i:-1;m:a:0:{}', 'x:i:1;m:a:0:{}', 'x:i:1;i:5;;m:a:0:{}', 'x:i:1;O:8:"stdClass":0:{}m:a:0:{}',
        'x:i:2;O:8:"stdClass":0:{},i:5;;r:3;;m:a:0:{}', 'x:i:1;O:8:"stdClass":0:{},i:5;m:a:0:{}', 'x:i:0;m:a:0:{', 'i:0;'],
    'SplQueue' => ['i:4', 'i:4;:i:5', 'i:4;:i:5;:', 'i:4;:i:5;x', "i:4;:i:5;\0x", 's:1:"a";:i:1;', 'i:4;:i:5;:i:6;'],
] as $class => $payloads) {
    foreach ($payloads as $payload) {
        $text = 'a:2:{i:0;C:' . strlen($class) . ":\"$class\":" . strlen($payload) . ":{{$payload}}i:1;i:2;}";
        try {
            echo "$class: ", json_encode(unserialize($text)), "\n";
        } catch (Exception $error) {
            echo "$class: ", get_class($error), ' ', $error->getMessage(), "\n";
        }
    }
}
?>
--EXPECTF--
ArrayObject: ArrayObject: UnexpectedValueException Error at offset 0 of 6 bytes
ArrayObject: ArrayObject: UnexpectedValueException Error at offset 2 of 5 bytes
ArrayObject: ArrayObject: UnexpectedValueException Error at offset 6 of 19 bytes
ArrayObject: 
Notice: ArrayObject::unserialize(): Unexpected end of serialized data in %s on line %d
ArrayObject: UnexpectedValueException Error at offset 15 of 25 bytes
ArrayObject: ArrayObject: UnexpectedValueException Error at offset 12 of 20 bytes
ArrayObject: ArrayObject: UnexpectedValueException Error at offset 19 of 19 bytes
ArrayObject: ArrayObject: UnexpectedValueException Error at offset 20 of 20 bytes
ArrayObject: [{},2]
ArrayObject: ArrayObject: UnexpectedValueException Error at offset 10 of 19 bytes
ArrayObject: ArrayObject: UnexpectedValueException Error at offset 0 of 1 bytes
ArrayObject: ArrayObject: UnexpectedValueException Error at offset 6 of 6 bytes
SplObjectStorage: SplObjectStorage: UnexpectedValueException Error at offset 6 of 15 bytes
SplObjectStorage: SplObjectStorage: UnexpectedValueException Error at offset 6 of 14 bytes
SplObjectStorage: SplObjectStorage: UnexpectedValueException Error at offset 6 of 19 bytes
SplObjectStorage: SplObjectStorage: UnexpectedValueException Error at offset 25 of 33 bytes
SplObjectStorage: SplObjectStorage: UnexpectedValueException Error at offset 35 of 44 bytes
SplObjectStorage: SplObjectStorage: UnexpectedValueException Error at offset 30 of 38 bytes
SplObjectStorage: SplObjectStorage: UnexpectedValueException Error at offset 13 of 13 bytes
SplObjectStorage: SplObjectStorage: UnexpectedValueException Error at offset 0 of 4 bytes
SplQueue: SplQueue: UnexpectedValueException Error at offset 0 of 3 bytes
SplQueue: SplQueue: UnexpectedValueException Error at offset 5 of 8 bytes
SplQueue: SplQueue: UnexpectedValueException Error at offset 10 of 10 bytes
SplQueue: SplQueue: UnexpectedValueException Error at offset 9 of 10 bytes
SplQueue: [{},2]
SplQueue: SplQueue: UnexpectedValueException Error at offset 8 of 13 bytes
SplQueue: [{},2]
