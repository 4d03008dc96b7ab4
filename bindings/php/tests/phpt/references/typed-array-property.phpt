--TEST--
Typed array properties that are one variable stay one
--FILE--
<?php
class Typed
{
    public array $list = [1];
    public ?array $same;

    function __construct() { $this->same = &$this->list; }
}
$o = unserialize(serialize(new Typed));
$o->list[] = 2;
var_dump(count($o->same));
try {
    $o->list = null;
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
int(2)
Cannot assign null to property Typed::$list of type array
