<?php
// Classes and values for sessions and caches.

enum Suit: string
{
    case Hearts = 'h';
    case Spades = 's';
}

final class Point
{
    public function __construct(public readonly int $x, public readonly int $y)
    {
    }
}

class Account
{
    private string $name = 'Alice';
    protected ?Account $next = null;
    public array $tags = ['a', 'b'];
    public $any;
}

class Slept
{
    public $kept = 1;
    private $dropped = 2;
    public $woken = 0;

    public function __sleep(): array
    {
        return ['kept'];
    }

    public function __wakeup(): void
    {
        $this->woken++;
    }
}

class Hooked
{
    public function __construct(public array $data = [])
    {
    }

    public function __serialize(): array
    {
        return ['d' => $this->data];
    }

    public function __unserialize(array $data): void
    {
        $this->data = $data['d'];
    }
}

// Old programs have classes with this interface only, for which PHP issues a deprecation at compile
// time.
error_reporting(error_reporting() & ~E_DEPRECATED);
eval('class Old implements Serializable
{
    public $data;
    public function serialize(): ?string { return \serialize($this->data); }
    public function unserialize(string $data): void { $this->data = \unserialize($data); }
}');
error_reporting(E_ALL);

/** Session variables by the name of the case. */
function session_cases(): array
{
    $account = new Account();
    $account->any = $account;
    $list = [1, 2];
    $referenced = ['list' => &$list, 'again' => &$list];
    $old = new Old();
    $old->data = [1, 'two', [3]];
    $inner = new Point(1, 2);
    $date = new DateTimeImmutable('2024-02-29 12:00:00', new DateTimeZone('Europe/Berlin'));
    $top = 5;
    return [
        'empty' => [],
        'scalars' => ['n' => null, 't' => true, 'i' => -17, 'f' => 0.1, 's' => "text \0 | ; \" ü", 'e' => ''],
        'arrays' => ['a' => [1, [2, ['k' => 'v']]], 'empty' => [], 'mixed' => [5 => 'a', 'b' => 'c', -1 => 'd']],
        'objects' => ['point' => $inner, 'account' => $account, 'std' => (object) ['a' => 1, '0' => 2]],
        'one object twice' => ['first' => $inner, 'second' => $inner, 'in' => [$inner, $account, $account]],
        'references inside of a variable' => ['one' => $referenced],
        'references between variables' => ['one' => &$top, 'two' => &$top, 'three' => [&$top]],
        'an enum' => ['suit' => Suit::Hearts, 'suits' => [Suit::Spades, Suit::Hearts, Suit::Spades]],
        'hooks' => ['slept' => new Slept(), 'hooked' => new Hooked(['a' => new Hooked([1])])],
        'Serializable' => ['old' => $old, 'then' => $inner, 'again' => $old, 'in' => [$old]],
        'classes of PHP' =>
            ['date' => $date, 'array' => new ArrayObject(['x' => 1]), 'list' => new SplObjectStorage()],
        'numeric keys' => ['a' => 1, 5 => 'lost', 'b' => 2],
        'a bar in a key' => ['a' => 1, 'b|c' => 2],
        'keys with other marks' => ['!' => 1, 'a!b' => 2, 'ü' => 3, '' => 4, ' ' => 5, ';' => 6],
    ];
}
