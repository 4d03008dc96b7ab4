--TEST--
__unserialize receives the properties under their mangled names
--FILE--
<?php
class Half
{
    public $a = 1;
    protected $b = 2;
    private $c = 3;

    function __unserialize(array $data): void
    {
        foreach ($data as $name => $value) {
            echo strtr($name, "\0", '~'), " = $value\n";
        }
    }
}
$o = unserialize(serialize(new Half));
var_dump($o->a);
?>
--EXPECT--
a = 1
~*~b = 2
~Half~c = 3
int(1)
