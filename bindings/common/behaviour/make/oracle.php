<?php
// PHP's own results, as descriptions in the form of ../README.md.
//
//   php oracle.php seeds       values that PHP freezes, and what it reads back
//   php oracle.php             answers lines of {"format":…,"hex":…} with {"value":…} or {"error":…},
//                              and of {"format":…,"build":VALUE} with {"hex":…}

error_reporting(E_ALL & ~E_DEPRECATED & ~E_NOTICE & ~E_WARNING);
ini_set('serialize_precision', '-1');

// The code that var_export writes calls __set_state.
trait State
{
    public static function __set_state(array $properties): static
    {
        $new = new static;
        foreach ($properties as $name => $value) {
            $new->$name = $value;
        }
        return $new;
    }
}
class Point { use State; public $x = 1; public $y = 2; }
class Hidden { use State; public $a = 1; protected $b = [2]; private $c = 'three'; }
class Node { use State; public $next; public $name = 'node'; }
enum Suit: string { case Hearts = 'H'; case Spades = 'S'; }

final class Describer
{
    private array $objects = [];
    private array $references = [];
    private int $depth = 0;

    public function string(string $value): mixed
    {
        return preg_match('/[\x80-\xff]/', $value) ? ['bytes' => bin2hex($value)] : $value;
    }

    public function item(array $array, int|string $key): mixed
    {
        $id = ReflectionReference::fromArrayElement($array, $key)?->getId();
        if ($id === null) {
            return $this->value($array[$key]);
        }
        if (isset($this->references[$id])) {
            return ['alias' => $this->references[$id]];
        }
        $this->references[$id] = $number = count($this->references) + 1;
        return ['var' => $number, 'is' => $this->value($array[$key])];
    }

    private function value(mixed $value): mixed
    {
        if (++$this->depth > 500) {
            throw new Exception('an array that is in itself by value');
        }
        $description = $this->describe($value);
        $this->depth--;
        return $description;
    }

    private function describe(mixed $value): mixed
    {
        return match (true) {
            is_int($value) => abs($value) < 2 ** 53 ? $value : ['int' => (string) $value],
            is_float($value) => ['float' => is_nan($value) ? 'nan' : bin2hex(pack('E', $value))],
            is_string($value) => $this->string($value),
            is_array($value) && array_is_list($value) => array_map(fn ($key) => $this->item($value, $key), array_keys($value)),
            is_array($value) => ['map' => $this->entries($value, false)],
            is_object($value) => $this->object($value),
            default => $value,
        };
    }

    private function entries(array $array, bool $isObject): array
    {
        $name = fn ($key) => is_int($key) && !$isObject ? $key : $this->string((string) $key);
        return array_map(fn ($key) => [$name($key), $this->item($array, $key)], array_keys($array));
    }

    private function object(object $value): array
    {
        if ($value instanceof UnitEnum) {
            return ['enum' => $value::class . ':' . $value->name];
        }
        $id = spl_object_id($value);
        if (isset($this->objects[$id])) {
            return ['same' => $this->objects[$id]];
        }
        $this->objects[$id] = $number = count($this->objects) + 1;
        $entries = (array) $value;
        $class = $value::class;
        if ($value instanceof __PHP_Incomplete_Class) {
            $class = $entries['__PHP_Incomplete_Class_Name'] ?? $class;
            unset($entries['__PHP_Incomplete_Class_Name']);
        }
        return ['id' => $number, 'is' => ['object' => $this->string($class), 'is' => ['map' => $this->entries($entries, true)]]];
    }
}

// Builds a value from a description.
final class Builder
{
    private array $objects = [];
    private array $variables = [];

    public function build(mixed $description, mixed &$variable, ?int $id = null): void
    {
        if (!is_array($description)) {
            $variable = $description;
        } elseif (array_is_list($description)) {
            $variable = [];
            foreach ($description as $key => $item) {
                $this->item($item, $variable, $key);
            }
        } elseif (isset($description['map'])) {
            $variable = [];
            foreach ($description['map'] as [$key, $item]) {
                $this->item($item, $variable, $this->string($key));
            }
        } elseif (isset($description['id'])) {
            $this->build($description['is'], $variable, $description['id']);
        } elseif (isset($description['object'])) {
            $variable = (new ReflectionClass($this->string($description['object'])))->newInstanceWithoutConstructor();
            $this->objects[$id ?? ''] = $variable;
            foreach ($description['is']['map'] as [$key, $item]) {
                $this->member($variable, $this->string($key), $item);
            }
        } else {
            $variable = match (array_key_first($description)) {
                'same' => $this->objects[$description['same']],
                'int' => (int) $description['int'],
                'float' => $description['float'] === 'nan' ? NAN : unpack('E', hex2bin($description['float']))[1],
                'enum' => constant(str_replace(':', '::', $description['enum'])),
                'text', 'bytes' => $this->string($description),
            };
        }
    }

    private function string(mixed $description): mixed
    {
        return is_array($description) ? $description['text'] ?? hex2bin($description['bytes']) : $description;
    }

    public function item(mixed $item, array &$array, int|string $key): void
    {
        if (isset($item['alias'])) {
            $array[$key] = &$this->variables[$item['alias']];
            return;
        }
        $array[$key] = null;
        if (isset($item['var'])) {
            $this->variables[$item['var']] = &$array[$key];
            $item = $item['is'];
        }
        $this->build($item, $array[$key]);
    }

    // The name contains the visibility: \0*\0name, \0Class\0name.
    private function member(object $object, string $key, mixed $item): void
    {
        $parts = explode("\0", $key);
        $name = end($parts);
        $class = count($parts) === 3 && $parts[1] !== '*' ? $parts[1] : $object::class;
        $this->build($item, $value);
        (fn () => $this->$name = $value)->bindTo($object, $class === 'stdClass' ? null : $class)();
    }
}

function build(string $format, mixed $description): array
{
    $root = [];
    (new Builder)->item($description, $root, 0);
    return ['hex' => bin2hex($format === 'igbinary' ? igbinary_serialize($root[0]) : serialize($root[0]))];
}

function read(string $format, string $bytes): array
{
    $failed = new stdClass;
    $value = match ($format) {
        'php' => $bytes === 'b:0;' ? false : (($read = unserialize($bytes)) === false ? $failed : $read),
        'igbinary' => igbinary_unserialize($bytes),
        'var-export' => eval("return $bytes;"),
        'php-session' => readSession($bytes),
    };
    return $value === $failed ? ['error' => true] : ['value' => (new Describer)->item([&$value], 0)];
}

function readSession(string $bytes): mixed
{
    $_SESSION = [];
    session_decode($bytes);
    return $_SESSION;
}

function seeds(): array
{
    $shared = new Point;
    $node = new Node;
    $node->next = $node;
    $pair = new Node;
    $pair->next = new Node;
    $pair->next->next = $pair;
    $dynamic = new stdClass;
    $dynamic->name = 'Alice';
    $dynamic->{'5'} = 'five';
    $one = 1;
    $aliases = [&$one, &$one];
    $cycle = [1];
    $cycle[1] = &$cycle;
    $list = [1, 2];
    $seeds = [
        'null' => null, 'true' => true, 'false' => false, 'empty list' => [], 'empty string' => '', 'list' => [1, 'a', null, true, false],
        'nested' => [[1, [2]], ['a' => ['b' => [3]]]], 'map' => ['b' => 1, 'a' => 2], 'integer keys' => [5 => 'a', 3 => 'b'], 'keys from 1' => [1 => 'a', 2 => 'b'],
        'negative key' => [-1 => 'a'], 'mixed keys' => [0 => 'a', 'k' => 'b', 1 => 'c'], 'keys that look like integers' => ['01' => 1, '1.5' => 2, '-0' => 3, '' => 4, '9223372036854775808' => 5],
        'list out of order' => [1 => 'b', 0 => 'a'], 'bytes' => ["\0\xe9\xff", "caf\xc3\xa9", "\xe2\x98\xba"], 'keys with bytes' => ["\xe9" => 1, "\xc3\xa9" => 2, "\0" => 3],
        'strings that look like numbers' => ['1', '-5', '1.5', '1e3', ' 1', '0x1f', 'INF', 'true', 'null'], 'long string' => str_repeat('abc ', 100), 'string of quotes' => "a'b\"c\\d\ne\$f",
        'object' => new Point, 'stdClass' => $dynamic, 'hidden properties' => new Hidden, 'the same object' => [$shared, $shared, 'k' => $shared], 'equal objects' => [new Point, new Point],
        'object in itself' => $node, 'two objects in each other' => $pair, 'enum' => [Suit::Hearts, Suit::Spades, Suit::Hearts], 'the same array twice' => [$list, $list],
        'alias' => $aliases, 'alias in a map' => ['a' => &$one, 'b' => [&$one]], 'array in itself' => ['a' => &$cycle], 'objects in objects' => (object) ['a' => (object) ['b' => (object) ['c' => 1]]],
        'same keys often' => array_map(fn ($n) => ['id' => $n, 'name' => "n$n", 'tags' => []], range(1, 12)), 'many keys' => array_combine(array_map(fn ($n) => "key$n", range(1, 40)), range(1, 40)),
        'object in a map' => ['o' => new Point, 'l' => [new Point]], 'deep' => array_reduce(range(1, 40), fn ($inner) => [$inner], 'x'),
    ];
    foreach ([0, 1, -1, 9, 127, 128, -128, -129, 255, 256, 65535, 65536, -32769, 2147483647, 2147483648, -2147483648, -2147483649, PHP_INT_MAX, PHP_INT_MIN] as $n) {
        $seeds["integer $n"] = [$n];
    }
    foreach ([0.0, -0.0, 0.5, -1.5, 0.1, 1e100, 1e-300, 5e-324, 1.7976931348623157e308, 3.0, 1e15, 1e22, INF, -INF, NAN] as $n) {
        $seeds['float ' . json_encode($n, JSON_PARTIAL_OUTPUT_ON_ERROR) . bin2hex(pack('E', $n))] = [$n];
    }
    return $seeds;
}

function frozenSeeds(): iterable
{
    foreach (seeds() as $name => $value) {
        yield [$name, 'php', serialize($value)];
        // igbinary follows a recursive array until its stack is exhausted.
        if ($name !== 'array in itself') {
            yield [$name, 'igbinary', igbinary_serialize($value)];
        }
        if (!preg_match('/itself|each other|alias|NAN|nan|^float null/', $name)) {
            yield [$name, 'var-export', var_export($value, true)];
        }
        if (is_array($value) && $value && array_filter(array_keys($value), fn ($key) => !is_string($key) || preg_match('/[^a-z0-9]|^$/', $key)) === []) {
            $_SESSION = $value;
            yield [$name, 'php-session', session_encode()];
        }
    }
}

if (($argv[1] ?? '') === 'seeds') {
    session_start(['use_cookies' => 0, 'save_path' => sys_get_temp_dir(), 'cache_limiter' => '']);
    foreach (frozenSeeds() as [$name, $format, $bytes]) {
        echo json_encode(['name' => $name, 'format' => $format, 'hex' => bin2hex($bytes)] + read($format, $bytes)), "\n";
    }
    session_destroy();
    exit;
}
while (($line = fgets(STDIN)) !== false) {
    $request = json_decode($line, true, 100000);
    try {
        $answer = array_key_exists('build', $request) ? build($request['format'], $request['build']) : read($request['format'], hex2bin($request['hex']));
        echo json_encode($answer, JSON_THROW_ON_ERROR, 100000), "\n";
    } catch (Throwable $error) {
        echo json_encode(['error' => $error->getMessage()]), "\n";
    }
}
