--TEST--
An exception in __serialize ends the writing, and no later hook is called
--FILE--
<?php
class Throws
{
    function __construct(private $name)
    {
    }

    function __serialize(): array
    {
        echo "$this->name\n";
        $this->name === 'b' and throw new DomainException('from b');
        return [];
    }
}
try {
    serialize([new Throws('a'), new Throws('b'), new Throws('c')]);
} catch (DomainException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
a
b
from b
