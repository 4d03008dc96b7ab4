--TEST--
A call for a payload continues the depth of the outer call, unless it has its own max_depth
--FILE--
<?php
class Text implements Serializable
{
    public static $options = [];
    public $value;

    function serialize() { return 'x'; }
    function unserialize($text) { $this->value = unserialize($text, ...self::$options); }
    function __serialize(): array { return []; }
    function __unserialize(array $data): void { }
}
$payload = 'a:1:{i:0;a:1:{i:0;i:1;}}';
$text = 'a:1:{i:0;C:4:"Text":' . strlen($payload) . ":{{$payload}}}";
foreach ([[], [[]], [['max_depth' => 2]], [['max_depth' => 1]], [['max_depth' => 0]]] as Text::$options) {
    foreach ([1, 2, 3, 0] as $depth) {
        echo json_encode(Text::$options), " in $depth: ";
        echo json_encode(unserialize($text, ['max_depth' => $depth])), "\n";
    }
}
?>
--EXPECTF--
[] in 1: 
Warning: unserialize(): Maximum depth of 1 exceeded. The depth limit can be changed using the max_depth unserialize() option or the unserialize_max_depth ini setting in %s on line %d

%s: unserialize(): Error at offset 5 of 24 bytes in %s on line %d
[{"value":false}]
[] in 2: 
Warning: unserialize(): Maximum depth of 2 exceeded. The depth limit can be changed using the max_depth unserialize() option or the unserialize_max_depth ini setting in %s on line %d

%s: unserialize(): Error at offset 14 of 24 bytes in %s on line %d
[{"value":false}]
[] in 3: [{"value":[[1]]}]
[] in 0: [{"value":[[1]]}]
[[]] in 1: 
Warning: unserialize(): Maximum depth of 1 exceeded. The depth limit can be changed using the max_depth unserialize() option or the unserialize_max_depth ini setting in %s on line %d

%s: unserialize(): Error at offset 5 of 24 bytes in %s on line %d
[{"value":false}]
[[]] in 2: 
Warning: unserialize(): Maximum depth of 2 exceeded. The depth limit can be changed using the max_depth unserialize() option or the unserialize_max_depth ini setting in %s on line %d

%s: unserialize(): Error at offset 14 of 24 bytes in %s on line %d
[{"value":false}]
[[]] in 3: [{"value":[[1]]}]
[[]] in 0: [{"value":[[1]]}]
[{"max_depth":2}] in 1: [{"value":[[1]]}]
[{"max_depth":2}] in 2: [{"value":[[1]]}]
[{"max_depth":2}] in 3: [{"value":[[1]]}]
[{"max_depth":2}] in 0: [{"value":[[1]]}]
[{"max_depth":1}] in 1: 
Warning: unserialize(): Maximum depth of 1 exceeded. The depth limit can be changed using the max_depth unserialize() option or the unserialize_max_depth ini setting in %s on line %d

%s: unserialize(): Error at offset 14 of 24 bytes in %s on line %d
[{"value":false}]
[{"max_depth":1}] in 2: 
Warning: unserialize(): Maximum depth of 1 exceeded. The depth limit can be changed using the max_depth unserialize() option or the unserialize_max_depth ini setting in %s on line %d

%s: unserialize(): Error at offset 14 of 24 bytes in %s on line %d
[{"value":false}]
[{"max_depth":1}] in 3: 
Warning: unserialize(): Maximum depth of 1 exceeded. The depth limit can be changed using the max_depth unserialize() option or the unserialize_max_depth ini setting in %s on line %d

%s: unserialize(): Error at offset 14 of 24 bytes in %s on line %d
[{"value":false}]
[{"max_depth":1}] in 0: 
Warning: unserialize(): Maximum depth of 1 exceeded. The depth limit can be changed using the max_depth unserialize() option or the unserialize_max_depth ini setting in %s on line %d

%s: unserialize(): Error at offset 14 of 24 bytes in %s on line %d
[{"value":false}]
[{"max_depth":0}] in 1: [{"value":[[1]]}]
[{"max_depth":0}] in 2: [{"value":[[1]]}]
[{"max_depth":0}] in 3: [{"value":[[1]]}]
[{"max_depth":0}] in 0: [{"value":[[1]]}]
