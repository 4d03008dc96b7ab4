--TEST--
A child of an exception keeps its own properties
--FILE--
<?php
class Detailed extends DomainException
{
    function __construct(private array $details)
    {
        parent::__construct('detailed');
    }

    function details() { return $this->details; }
}
var_dump(unserialize(serialize(new Detailed(['a' => 1])))->details());
?>
--EXPECT--
array(1) {
  ["a"]=>
  int(1)
}
