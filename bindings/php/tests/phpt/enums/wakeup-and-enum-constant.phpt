--TEST--
__unserialize may set a readonly property to a case
--FILE--
<?php
enum Suit: string
{
    case Hearts = 'h';
    const Best = self::Hearts;
}
class Card
{
    public readonly Suit $suit;

    function __construct() { $this->suit = Suit::Best; }
    function __serialize(): array { return ['v' => $this->suit->value]; }
    function __unserialize(array $data): void { $this->suit = Suit::from($data['v']); }
}
echo $s = serialize(new Card), "\n";
var_dump(unserialize($s)->suit);
?>
--EXPECT--
O:4:"Card":1:{s:1:"v";s:1:"h";}
enum(Suit::Hearts)
