--TEST--
Many objects of one class keep their own values
--FILE--
<?php
class Row
{
    public $id;
    protected $name;
    private $tags = [];

    function __construct($id)
    {
        $this->id = $id;
        $this->name = "row $id";
        $this->tags[] = $id % 3;
    }
}
$rows = array_map(fn ($i) => new Row($i), range(1, 2000));
$s = serialize($rows);
$back = unserialize($s);
var_dump($back == $rows, md5(serialize($back)) === md5($s));
?>
--EXPECT--
bool(true)
bool(true)
