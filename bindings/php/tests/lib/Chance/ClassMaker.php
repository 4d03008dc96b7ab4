<?php
// Random classes of all kinds. There are few names of properties, so that parents and children often
// have private properties with the same name.

declare(strict_types=1);

final class ClassMaker
{
    private const NAMES = ['p', 'q', 'r', 's', 't', 'u'];
    public const TYPES = ['int', '?int', 'float', 'string', '?string', 'bool', 'array', '?array', 'iterable', 'mixed',
        'object', '?object', '?self', 'int|string', 'int|float|null', 'stdClass', '?stdClass', 'Suit', '?Suit',
        '?Level', '?ArrayObject', '?DateTimeInterface', 'Countable&Traversable', 'bool|array'];
    private const DEFAULTS = ['int' => '7', '?int' => 'null', 'float' => '1.5', 'string' => "'d'",
        '?string' => 'null', 'bool' => 'true', 'array' => '[1]', '?array' => 'null', 'int|string' => '5',
        'int|float|null' => '2.5', 'Suit' => 'Suit::Spades', 'mixed' => 'null', '?stdClass' => 'null'];

    // By name: the source, whether the class is final, and the properties that children see.
    public array $classes = [];

    public function __construct(int $count, private readonly string $prefix)
    {
        for ($n = 0; $n < $count; $n++) {
            $this->makeClass($n);
        }
    }

    private function makeClass(int $n): void
    {
        $name = (Rng::oneIn(6) ? 'Some\\Space\\' : '') . "Made$this->prefix$n";
        $parents = array_keys(array_filter($this->classes, fn ($class) => !$class['final']));
        $parent = $parents && Rng::oneIn(2) ? Rng::pick($parents) : null;
        $inherited = $parent === null ? [] : $this->classes[$parent]['visible'];
        [$body, $visible] = $this->properties($inherited);
        [$hooks, $interfaces] = $this->hooks();
        $isFinal = Rng::oneIn(8);
        $source = (Rng::oneIn(2) ? '#[\AllowDynamicProperties] ' : '') . ($isFinal ? 'final ' : '') . 'class '
            . substr((string) strrchr("\\$name", '\\'), 1)
            . ($parent === null ? '' : " extends \\$parent")
            . ($interfaces ? ' implements ' . implode(', ', $interfaces) : '') . "\n{\n$body$hooks}\n";
        $namespace = str_contains($name, '\\') ? 'namespace ' . substr($name, 0, (int) strrpos($name, '\\'))
            . '; use Suit, Level, stdClass, ArrayObject, DateTimeInterface, Countable, Traversable, Outcome, Hooks; '
            : '';
        // PHP issues a deprecation for a class with Serializable only.
        $before = error_reporting(E_ALL & ~E_DEPRECATED);
        eval($namespace . $source);
        error_reporting($before);
        $this->classes[$name] = ['source' => $source, 'final' => $isFinal, 'visible' => $visible];
    }

    // A class may declare the properties that it sees from its parent only in the same way.
    private function properties(array $visible): array
    {
        $body = '';
        $names = self::NAMES;
        shuffle($names);
        foreach (array_slice($names, 0, Rng::below(6)) as $name) {
            if (isset($visible[$name])) {
                if (Rng::oneIn(3)) {
                    $body .= '    ' . $visible[$name] . "\n";
                }
                continue;
            }
            $visibility = Rng::pick(['public', 'public', 'protected', 'private']);
            $isTyped = Rng::oneIn(2);
            $isReadonly = $isTyped && Rng::oneIn(4);
            $type = Rng::pick(self::TYPES);
            if ($isTyped) {
                $hasDefault = !$isReadonly && Rng::oneIn(2) && isset(self::DEFAULTS[$type]);
                $default = $hasDefault ? ' = ' . self::DEFAULTS[$type] : '';
            } else {
                $default = Rng::pick(['', ' = 1', " = 'x'", ' = [1, 2]']);
            }
            // "self" would be another class in a child.
            $type = str_contains($type, 'self') && $visibility !== 'private' ? '?object' : $type;
            $text = $visibility . ($isReadonly ? ' readonly' : '') . ($isTyped ? " $type" : '') . " \$$name$default;";
            $body .= "    $text\n";
            if ($visibility !== 'private') {
                $visible[$name] = $text;
            }
        }
        if (Rng::oneIn(6)) {
            $body .= "    public static \$shared = 1;\n";
        }
        return [$body, $visible];
    }

    private function hooks(): array
    {
        $hooks = '';
        $interfaces = [];
        $kind = Rng::weighted(['none' => 40, 'magic' => 15, 'only serialize' => 3, 'only unserialize' => 3,
            'sleep' => 8, 'wakeup' => 8, 'sleep and wakeup' => 10, 'serializable' => 4, 'serializable and magic' => 4,
            'all' => 3]);
        if (in_array($kind, ['magic', 'only serialize', 'serializable and magic', 'all'], true)) {
            $hooks .= '    public function __serialize()' . $this->serializeBody() . "\n";
        }
        if (in_array($kind, ['magic', 'only unserialize', 'serializable and magic', 'all'], true)) {
            $hooks .= '    public function __unserialize(array $data): void' . $this->unserializeBody() . "\n";
        }
        if (in_array($kind, ['sleep', 'sleep and wakeup', 'all'], true)) {
            $hooks .= '    public function __sleep()' . $this->sleepBody() . "\n";
        }
        if (in_array($kind, ['wakeup', 'sleep and wakeup', 'all'], true)) {
            $hooks .= '    public function __wakeup(): void' . $this->wakeupBody() . "\n";
        }
        if (in_array($kind, ['serializable', 'serializable and magic', 'all'], true)) {
            $interfaces[] = '\\Serializable';
            $hooks .= '    public function serialize()' . $this->serializePayloadBody()
                . "\n    public function unserialize(\$data)" . $this->unserializePayloadBody() . "\n";
        }
        if (Rng::oneIn(5)) {
            $hooks .= "    public function __destruct() { Outcome::record('destroy ' . static::class); }\n";
        }
        if (Rng::oneIn(10)) {
            $hooks .= "    public function __get(\$name) { Outcome::record(\"get \$name\"); return null; }\n";
        }
        if (Rng::oneIn(10)) {
            $hooks .= "    public function __set(\$name, \$value) { Outcome::record(\"set \$name\"); }\n";
        }
        return [$hooks, $interfaces];
    }

    private function serializeBody(): string
    {
        $return = Rng::weighted([
            'get_object_vars($this)' => 10,
            'get_mangled_object_vars($this)' => 10,
            '[1, 2, "k" => $this->p ?? null]' => 4,
            '["5" => 1, "05" => 2, -3 => [3]]' => 2,
            '[]' => 2,
            '"no array"' => 1,
            'Hooks::fail("serialize")' => 1,
            '["text" => Implementation::current()->serialize([1, "a"])] + get_object_vars($this)' => 3,
            '["me" => $this, "again" => $this]' => 2,
        ]);
        return str_replace('Implementation::', '\Implementation::',
            " { Outcome::record('__serialize ' . static::class); return $return; }");
    }

    private function unserializeBody(): string
    {
        $statements = Rng::weighted([
            'Hooks::assign($this, $data);' => 12,
            '$this->p = $data;' => 3,
            '' => 3,
            'Hooks::fail("unserialize");' => 1,
            '\Implementation::current()->unserialize(\'a:2:{i:0;i:1;i:1;O:8:"stdClass":0:{}}\'); Hooks::assign($this, $data);' => 3,
        ]);
        return " { Outcome::record('__unserialize ' . static::class . ' ' . Hooks::describeKeys(\$data)); $statements }";
    }

    private function sleepBody(): string
    {
        $return = Rng::weighted([
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
            'Hooks::fail("sleep")' => 1,
        ]);
        return " { Outcome::record('__sleep ' . static::class); return $return; }";
    }

    private function wakeupBody(): string
    {
        $statements = Rng::weighted(['' => 12,
            'foreach (get_object_vars($this) as $name => $value) Outcome::record("has $name " . get_debug_type($value));' => 6, 'Hooks::fail("wakeup");' => 1, '\Implementation::current()->unserialize("a:1:{i:0;i:5;}");' => 2]);
        return " { Outcome::record('__wakeup ' . static::class); $statements }";
    }

    private function serializePayloadBody(): string
    {
        $return = Rng::weighted(['"payload"' => 6, '""' => 1, '"a}b\"c;"' => 2, 'null' => 1, '5.5' => 1,
            'Hooks::fail("Serializable")' => 1]);
        return " { Outcome::record('serialize ' . static::class); return $return; }";
    }

    private function unserializePayloadBody(): string
    {
        $statements = Rng::weighted(['' => 8, '$this->p = $data;' => 1, 'Hooks::fail("Serializable");' => 1]);
        return " { Outcome::record('unserialize ' . static::class . ' ' . bin2hex((string) \$data)); $statements }";
    }
}

final class HookException extends Exception
{
}

// The code of hooks.
final class Hooks
{
    public static function fail(string $where): never
    {
        throw new HookException("$where says no", 3);
    }

    public static function describeKeys(array $data): string
    {
        $text = [];
        foreach ($data as $key => $value) {
            $text[] = (is_int($key) ? $key : Shape::string($key)) . '=' . get_debug_type($value);
        }
        return implode(',', $text);
    }

    // Sets each property in the class that declares it.
    public static function assign(object $object, array $data): void
    {
        foreach ($data as $key => $value) {
            $parts = explode("\0", (string) $key);
            $name = end($parts);
            $class = count($parts) === 3 && $parts[1] !== '*' && class_exists($parts[1])
                && $object instanceof $parts[1] ? $parts[1] : $object::class;
            if ($name === '' || $name[0] === "\0" || !preg_match('/^\w+$/', $name)) {
                continue;
            }
            try {
                (function () use ($name, $value) {
                    $this->$name = $value;
                })->bindTo($object, $class)();
            } catch (TypeError) {
                Outcome::record("type error for $name");
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
        Outcome::record('__set_state ' . static::class . ' ' . Hooks::describeKeys($members));
        $object = new static;
        foreach ($members as $name => $value) {
            $object->$name = $value;
        }
        return $object;
    }
}
