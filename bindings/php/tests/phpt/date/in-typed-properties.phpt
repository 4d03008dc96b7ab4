--TEST--
Dates in typed properties survive a round trip
--FILE--
<?php
class Event
{
    public function __construct(public readonly DateTimeInterface $at, public ?DateTimeZone $zone = null)
    {
    }
}
$o = new Event(new DateTimeImmutable('2020-01-01 UTC'), new DateTimeZone('UTC'));
var_dump(unserialize(serialize($o)) == $o);
?>
--EXPECT--
bool(true)
