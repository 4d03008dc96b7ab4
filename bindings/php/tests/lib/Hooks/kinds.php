<?php

// Defines each class twice: as `L…`, which is listed, and as `U…`, which is not. The names differ in
// one letter, so that a changed byte makes one of the other.

declare(strict_types=1);

$kinds = <<<'KINDS'
trait *Noted
{
    public function __destruct() { Hooks\Calls::add(self::class, __FUNCTION__); }
    public function __get($name) { Hooks\Calls::add(self::class, __FUNCTION__); return null; }
    public function __isset($name) { Hooks\Calls::add(self::class, __FUNCTION__); return false; }
    public function __unset($name) { Hooks\Calls::add(self::class, __FUNCTION__); }
    public function __call($name, $arguments) { Hooks\Calls::add(self::class, __FUNCTION__); }
    public function __toString(): string { Hooks\Calls::add(self::class, __FUNCTION__); return ''; }
    public function __clone() { Hooks\Calls::add(self::class, __FUNCTION__); }
    public static function __callStatic($name, $arguments) { Hooks\Calls::add(self::class, __FUNCTION__); }
}

class *Plain
{
    use *Noted;
    public $a;
    protected $b;
    private $c;
    public function __construct() { Hooks\Calls::add(self::class, __FUNCTION__); }
    public function __wakeup() { Hooks\Calls::add(self::class, __FUNCTION__); }
    public static function make($a, $b) { $made = new self; $made->a = $a; $made->b = $b; $made->c = [$a]; return $made; }
}

class *Arrayed
{
    use *Noted;
    public $a;
    public function __serialize(): array { return [$this->a]; }
    public function __unserialize(array $data): void { Hooks\Calls::add(self::class, __FUNCTION__); $this->a = $data; }
}

class *Throws
{
    use *Noted;
    public $a;
    public function __serialize(): array { return ['a' => $this->a]; }
    public function __unserialize(array $data): void { Hooks\Calls::add(self::class, __FUNCTION__); throw new Exception('no'); }
}

class *Nested
{
    use *Noted;
    public $a;
    public function __serialize(): array { return [serialize($this->a)]; }
    public function __unserialize(array $data): void
    {
        Hooks\Calls::add(self::class, __FUNCTION__);
        if (is_string($data[0] ?? null)) {
            $this->a = Icecore\unserialize($data[0], ['classes' => ['LPlain', 'LEnum']]);
        }
    }
}

class *Sleeps
{
    use *Noted;
    public $a = 1;
    public $b;
    public function __sleep() { return ['a', 'b']; }
    public function __wakeup() { Hooks\Calls::add(self::class, __FUNCTION__); if ($this->a === 7) { throw new Exception('no'); } }
}

class *Frozen implements Serializable
{
    use *Noted;
    public $in;
    public function serialize() { return serialize($this->in); }
    public function unserialize($text) { Hooks\Calls::add(self::class, __FUNCTION__); $this->in = Icecore\unserialize($text); }
}

class *Readonly
{
    public function __construct(public readonly mixed $a = null, public readonly int $i = 3) {}
    public function __wakeup() { Hooks\Calls::add(self::class, __FUNCTION__); }
    public function __destruct() { Hooks\Calls::add(self::class, __FUNCTION__); }
}

class *Typed
{
    use *Noted;
    public int $i = 1;
    public ?LPlain $listed = null;
    public UPlain|UEnum|null $other = null;
    public ?self $same = null;
    public array $list = [];
    public function __wakeup() { Hooks\Calls::add(self::class, __FUNCTION__); }
}

enum *Enum
{
    case A;
    case B;
    const C = self::B;
}

enum *Cards: string
{
    case Hearts = 'h';
    case Spades = 's';
    public static function __callStatic($name, $arguments) { Hooks\Calls::add(self::class, __FUNCTION__); }
}

class *Array extends ArrayObject
{
    public $a;
    public function offsetGet($key): mixed { Hooks\Calls::add(self::class, __FUNCTION__); return null; }
    public function offsetSet($key, $value): void { Hooks\Calls::add(self::class, __FUNCTION__); }
    public function __wakeup() { Hooks\Calls::add(self::class, __FUNCTION__); }
    public function __destruct() { Hooks\Calls::add(self::class, __FUNCTION__); }
}

class *Storage extends SplObjectStorage
{
    public function getHash($object): string { Hooks\Calls::add(self::class, __FUNCTION__); return spl_object_hash($object); }
    public function __destruct() { Hooks\Calls::add(self::class, __FUNCTION__); }
}

class *Queue extends SplDoublyLinkedList
{
    public function push($value): void { Hooks\Calls::add(self::class, __FUNCTION__); parent::push($value); }
    public function __destruct() { Hooks\Calls::add(self::class, __FUNCTION__); }
}

class *Date extends DateTime
{
    public function __destruct() { Hooks\Calls::add(self::class, __FUNCTION__); }
}

class *State
{
    use *Noted;
    public $a;
    public static function __set_state($data) { Hooks\Calls::add(self::class, __FUNCTION__); $made = new self; $made->a = $data['a'] ?? null; return $made; }
}
KINDS;

foreach (['L', 'U'] as $first) {
    eval(str_replace('*', $first, $kinds));
}
