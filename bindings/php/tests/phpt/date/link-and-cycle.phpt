--TEST--
A date in an object with a cycle is shared with a link to it
--FILE--
<?php
class Event
{
    public $at;
    public $self;
}
$e = new Event;
$e->at = new DateTimeImmutable('2020-01-01 UTC');
$e->self = $e;
$v = unserialize(serialize([$e, $e->at]));
var_dump($v[0]->at === $v[1], $v[0]->self === $v[0]);
?>
--EXPECT--
bool(true)
bool(true)
