<?php
// Classes for the tests of igbinary, one for each way in which an object is written.

declare(strict_types=1);

namespace Igbinary;

#[\AllowDynamicProperties]
class Plain
{
    public mixed $a = null;
    protected $b = 2;
    private $c = 3;

    public function dropHidden(): void
    {
        unset($this->b, $this->c);
    }
}

#[\AllowDynamicProperties]
class Typed
{
    public int $number = 1;
    public ?array $list;
    public ?Typed $other = null;
}

#[\AllowDynamicProperties]
class Sleeps
{
    public $a = 1;
    protected $b = 2;
    private $c = 3;
    public int $unset;
    public $names = ['a', 'b', 'c'];

    public function __sleep()
    {
        return $this->names;
    }

    public function dropHidden(): void
    {
        unset($this->b, $this->c);
    }
}

class Hooks
{
    public $content = 0;

    public function __serialize(): array
    {
        return is_array($this->content) ? $this->content : ['content' => $this->content];
    }

    public function __unserialize(array $data): void
    {
        $this->content = $data;
    }
}

#[\AllowDynamicProperties]
class Wakes
{
    public $a = 0;

    public function __wakeup(): void
    {
        \Outcome::record('wakes');
    }
}

class Custom implements \Serializable
{
    public $content = 0;

    public function serialize()
    {
        return serialize($this->content);
    }

    public function unserialize($text)
    {
        $this->content = unserialize($text);
    }
}

enum Suit
{
    case Hearts;
    case Spades;
    const DEFAULT = 5;
}
