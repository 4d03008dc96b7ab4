<?php
// Random classes of all kinds by a seed: there are few names of properties, so that parents and
// children have private properties with the same name.

declare(strict_types=1);

final class ClassMaker
{
    private const NAMES = ['p', 'q', 'r', 's', 't', 'u'];
    public const TYPES = ['int', '?int', 'float', 'string', '?string', 'bool', 'array', '?array', 'iterable', 'mixed', 'object', '?object', '?self', 'int|string', 'int|float|null', 'stdClass', '?stdClass', 'Suit', '?Suit', '?Level', '?ArrayObject', '?DateTimeInterface', 'Countable&Traversable', 'bool|array'];
    private const DEFAULTS = ['int' => '7', '?int' => 'null', 'float' => '1.5', 'string' => "'d'", '?string' => 'null', 'bool' => 'true', 'array' => '[1]', '?array' => 'null', 'int|string' => '5', 'int|float|null' => '2.5', 'Suit' => 'Suit::Spades', 'mixed' => 'null', '?stdClass' => 'null'];

    // Name => [source, parent, members that children have to repeat unchanged].
    public array $classes = [];

    public function __construct(int $count, private readonly string $prefix)
    {
        for ($n = 0; $n < $count; $n++) {
            $this->make($n);
        }
    }

    private function make(int $n): void
    {
        $name = (Dice::one(6) ? 'Some\\Space\\' : '') . "Made$this->prefix$n";
        $parents = array_keys(array_filter($this->classes, fn ($class) => !$class['final']));
        $parent = $parents && Dice::one(2) ? Dice::pick($parents) : null;
        $inherited = $parent === null ? [] : $this->classes[$parent]['visible'];
        [$body, $visible] = $this->properties($inherited);
        [$hooks, $interfaces] = $this->hooks();
        $isFinal = Dice::one(8);
        $source = (Dice::one(2) ? '#[\AllowDynamicProperties] ' : '') . ($isFinal ? 'final ' : '') . 'class ' . substr((string) strrchr("\\$name", '\\'), 1)
            . ($parent === null ? '' : " extends \\$parent") . ($interfaces ? ' implements ' . implode(', ', $interfaces) : '') . "\n{\n$body$hooks}\n";
        $namespace = str_contains($name, '\\') ? 'namespace ' . substr($name, 0, (int) strrpos($name, '\\')) . '; use Suit, Level, stdClass, ArrayObject, DateTimeInterface, Countable, Traversable, Outcome, Hooks; ' : '';
        // Serializable alone is deprecated, which PHP reports when the class is made.
        $before = error_reporting(E_ALL & ~E_DEPRECATED);
        eval($namespace . $source);
        error_reporting($before);
        $this->classes[$name] = ['source' => $source, 'final' => $isFinal, 'visible' => $visible];
    }

    // Members that children see must be declared by them in the same way, or not at all.
    private function properties(array $visible): array
    {
        $body = '';
        $names = self::NAMES;
        shuffle($names);
        foreach (array_slice($names, 0, Dice::below(6)) as $name) {
            if (isset($visible[$name])) {
                if (Dice::one(3)) {
                    $body .= '    ' . $visible[$name] . "\n";
                }
                continue;
            }
            $visibility = Dice::pick(['public', 'public', 'protected', 'private']);
            $isTyped = Dice::one(2);
            $isReadonly = $isTyped && Dice::one(4);
            $type = Dice::pick(self::TYPES);
            $default = $isTyped ? (!$isReadonly && Dice::one(2) && isset(self::DEFAULTS[$type]) ? ' = ' . self::DEFAULTS[$type] : '') : Dice::pick(['', ' = 1', " = 'x'", ' = [1, 2]']);
            // "self" would be another class in a child.
            $type = str_contains($type, 'self') && $visibility !== 'private' ? '?object' : $type;
            $text = $visibility . ($isReadonly ? ' readonly' : '') . ($isTyped ? " $type" : '') . " \$$name$default;";
            $body .= "    $text\n";
            if ($visibility !== 'private') {
                $visible[$name] = $text;
            }
        }
        if (Dice::one(6)) {
            $body .= "    public static \$shared = 1;\n";
        }
        return [$body, $visible];
    }

    private function hooks(): array
    {
        $hooks = '';
        $interfaces = [];
        $kind = Dice::weighted(['none' => 40, 'magic' => 15, 'only serialize' => 3, 'only unserialize' => 3, 'sleep' => 8, 'wakeup' => 8, 'sleep and wakeup' => 10, 'serializable' => 4, 'serializable and magic' => 4, 'all' => 3]);
        if (in_array($kind, ['magic', 'only serialize', 'serializable and magic', 'all'], true)) {
            $hooks .= '    public function __serialize()' . $this->giver() . "\n";
        }
        if (in_array($kind, ['magic', 'only unserialize', 'serializable and magic', 'all'], true)) {
            $hooks .= '    public function __unserialize(array $data): void' . $this->taker() . "\n";
        }
        if (in_array($kind, ['sleep', 'sleep and wakeup', 'all'], true)) {
            $hooks .= '    public function __sleep()' . $this->sleeper() . "\n";
        }
        if (in_array($kind, ['wakeup', 'sleep and wakeup', 'all'], true)) {
            $hooks .= '    public function __wakeup(): void' . $this->waker() . "\n";
        }
        if (in_array($kind, ['serializable', 'serializable and magic', 'all'], true)) {
            $interfaces[] = '\\Serializable';
            $hooks .= '    public function serialize()' . $this->payload() . "\n    public function unserialize(\$data)" . $this->payloadTaker() . "\n";
        }
        if (Dice::one(5)) {
            $hooks .= "    public function __destruct() { Outcome::note('destroy ' . static::class); }\n";
        }
        if (Dice::one(10)) {
            $hooks .= "    public function __get(\$name) { Outcome::note(\"get \$name\"); return null; }\n";
        }
        if (Dice::one(10)) {
            $hooks .= "    public function __set(\$name, \$value) { Outcome::note(\"set \$name\"); }\n";
        }
        return [$hooks, $interfaces];
    }

    private function giver(): string
    {
        $return = Dice::weighted([
            'get_object_vars($this)' => 10,
            'get_mangled_object_vars($this)' => 10,
            '[1, 2, "k" => $this->p ?? null]' => 4,
            '["5" => 1, "05" => 2, -3 => [3]]' => 2,
            '[]' => 2,
            '"no array"' => 1,
            'Hooks::dies("serialize")' => 1,
            '["text" => Side::now()->serialize([1, "a"])] + get_object_vars($this)' => 3,
            '["me" => $this, "again" => $this]' => 2,
        ]);
        return str_replace('Side::', '\Side::', " { Outcome::note('__serialize ' . static::class); return $return; }");
    }

    private function taker(): string
    {
        $does = Dice::weighted([
            'Hooks::assign($this, $data);' => 12,
            '$this->p = $data;' => 3,
            '' => 3,
            'Hooks::dies("unserialize");' => 1,
            '\Side::now()->unserialize(\'a:2:{i:0;i:1;i:1;O:8:"stdClass":0:{}}\'); Hooks::assign($this, $data);' => 3,
        ]);
        return " { Outcome::note('__unserialize ' . static::class . ' ' . Hooks::keys(\$data)); $does }";
    }

    private function sleeper(): string
    {
        $return = Dice::weighted([
            'array_keys(get_object_vars($this))' => 10,
            'array_map("strval", array_keys(get_mangled_object_vars($this)))' => 4,
            '["p", "q"]' => 4,
            '["p", "p", "q"]' => 3,
            '["none", "p"]' => 3,
            '["k" => "p", "l" => "r"]' => 2,
            '["p", 5, "q"]' => 1,
            '["\0*\0p", "\0Made1\0q"]' => 2,
            '"no array"' => 1,
            'null' => 1,
            '[]' => 2,
            'Hooks::dies("sleep")' => 1,
        ]);
        return " { Outcome::note('__sleep ' . static::class); return $return; }";
    }

    private function waker(): string
    {
        $does = Dice::weighted(['' => 12, 'foreach (get_object_vars($this) as $name => $value) Outcome::note("has $name " . get_debug_type($value));' => 6, 'Hooks::dies("wakeup");' => 1, '\Side::now()->unserialize("a:1:{i:0;i:5;}");' => 2]);
        return " { Outcome::note('__wakeup ' . static::class); $does }";
    }

    private function payload(): string
    {
        $return = Dice::weighted(['"payload"' => 6, '""' => 1, '"a}b\"c;"' => 2, 'null' => 1, '5.5' => 1, 'Hooks::dies("Serializable")' => 1]);
        return " { Outcome::note('serialize ' . static::class); return $return; }";
    }

    private function payloadTaker(): string
    {
        $does = Dice::weighted(['' => 8, '$this->p = $data;' => 1, 'Hooks::dies("Serializable");' => 1]);
        return " { Outcome::note('unserialize ' . static::class . ' ' . bin2hex((string) \$data)); $does }";
    }
}

final class HookException extends Exception
{
}

// The actions of hooks.
final class Hooks
{
    public static function dies(string $where): never
    {
        throw new HookException("$where says no", 3);
    }

    public static function keys(array $data): string
    {
        $text = [];
        foreach ($data as $key => $value) {
            $text[] = (is_int($key) ? $key : Shape::string($key)) . '=' . get_debug_type($value);
        }
        return implode(',', $text);
    }

    // Puts members back into the class that declares each.
    public static function assign(object $object, array $data): void
    {
        foreach ($data as $key => $value) {
            $parts = explode("\0", (string) $key);
            $name = end($parts);
            $class = count($parts) === 3 && $parts[1] !== '*' && class_exists($parts[1]) && $object instanceof $parts[1] ? $parts[1] : $object::class;
            if ($name === '' || $name[0] === "\0" || !preg_match('/^\w+$/', $name)) {
                continue;
            }
            try {
                (function () use ($name, $value) {
                    $this->$name = $value;
                })->bindTo($object, $class)();
            } catch (TypeError) {
                Outcome::note("no room for $name");
            }
        }
    }
}

enum Suit: string
{
    case Hearts = 'H';
    case Spades = 'S';
}
enum Level: int
{
    case Low = 1;
    case High = 2;
    const Top = self::High;
}
enum Plainly
{
    case One;
    case Two;
}
class ExtendedObject extends ArrayObject
{
    public $extra = 1;
    protected $more = [];
    private ?int $typed = null;
}
class ExtendedStorage extends SplObjectStorage
{
    public $extra = 1;
}
class ExtendedList extends SplDoublyLinkedList
{
    public $extra = 1;
}
class ExtendedFixed extends SplFixedArray
{
    public $extra = 1;
}
class ExtendedHeap extends SplMinHeap
{
    public $extra = 1;
}
class ExtendedDate extends DateTimeImmutable
{
    public $extra = 1;
    private $hidden = 2;
}
class ExtendedException extends Exception
{
    public $extra = 1;
}
abstract class CannotBeMade
{
    public $p;
}
interface NoClass
{
}
trait NoClassEither
{
}
class WithState
{
    public $p = 1;
    protected $q = 2;
    private $r = 3;
    public ?WithState $next = null;

    public static function __set_state(array $members): static
    {
        Outcome::note('__set_state ' . static::class . ' ' . Hooks::keys($members));
        $object = new static;
        foreach ($members as $name => $value) {
            $object->$name = $value;
        }
        return $object;
    }
}
