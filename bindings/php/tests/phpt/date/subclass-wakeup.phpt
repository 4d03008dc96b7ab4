--TEST--
A child of DateTime may extend the hooks of its parent
--FILE--
<?php
class Moment extends DateTime
{
    public $n = 0;

    function __serialize(): array { return ['n' => 7] + parent::__serialize(); }
    function __unserialize(array $data): void
    {
        $n = $data['n'];
        unset($data['n']);
        parent::__unserialize($data);
        $this->n = $n;
    }
}
$b = unserialize(serialize(new Moment('2020-01-01 UTC')));
var_dump($b->n, $b->format('Y'));
?>
--EXPECT--
int(7)
string(4) "2020"
