<?php
// The classes that the behaviour list names. The calls of their hooks are logged, so that a line can
// require that none was called.

declare(strict_types=1);

final class Classes
{
    public static array $log = [];
    // Called by the hooks of Reenters. Writes and reads another document.
    public static ?Closure $nested = null;

    // Defines a class without hooks. It is the autoloader for classes that a line names.
    public static function define(string $name): void
    {
        $parts = explode('\\', $name);
        foreach ($parts as $part) {
            if (!preg_match('/^[a-zA-Z_\x80-\xff][a-zA-Z0-9_\x80-\xff]*$/D', $part)) {
                return;
            }
        }
        $short = array_pop($parts);
        try {
            eval(($parts ? 'namespace ' . implode('\\', $parts) . ';' : '')
                . "#[\\AllowDynamicProperties] class $short {}");
        } catch (ParseError) {
            // The name is a reserved word, so the class can't exist.
        }
    }
}
spl_autoload_register(Classes::define(...));

final class HookSaysNo extends Exception
{
}

#[AllowDynamicProperties]
class Notes
{
    private function note(string $event): void
    {
        Classes::$log[] = "$event " . static::class;
    }

    public function __serialize(): array
    {
        $this->note('freeze');
        return get_object_vars($this);
    }

    public function __unserialize(array $members): void
    {
        $this->note('thaw');
        foreach ($members as $name => $value) {
            $this->$name = $value;
        }
    }

    public function __destruct()
    {
        $this->note('destroy');
    }
}

class ThawDies extends Notes
{
    public function __unserialize(array $members): void
    {
        throw new HookSaysNo('the hook says no');
    }
}

class FreezeDies extends Notes
{
    public function __serialize(): array
    {
        throw new HookSaysNo('the hook says no');
    }
}

class Reenters extends Notes
{
    public function __serialize(): array
    {
        (Classes::$nested)();
        return parent::__serialize();
    }

    public function __unserialize(array $members): void
    {
        (Classes::$nested)();
        parent::__unserialize($members);
    }
}

// The code that var_export writes calls __set_state.
trait State
{
    public static function __set_state(array $members): static
    {
        $object = new static;
        foreach ($members as $name => $value) {
            $object->$name = $value;
        }
        return $object;
    }
}

// The classes of the generated lines.
class Point { use State; public $x = 1; public $y = 2; }
class Hidden { use State; public $a = 1; protected $b = [2]; private $c = 'three'; }
class Node { use State; public $next; public $name = 'node'; }
enum Suit: string { case Hearts = 'H'; case Spades = 'S'; }
