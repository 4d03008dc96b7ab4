<?php
// Compares a value with a description: walks both in the order of the description, and throws at
// the first difference.
//
//   (new Checker)->check($description, $value);

declare(strict_types=1);

final class Checker
{
    private array $objects = [];      // by the description's id
    private array $variables = [];
    private array $metObjects = [];   // where each was met
    private array $metVariables = [];

    // The keys of JSON lines may have another order.
    public function __construct(private readonly bool $isOrdered = true)
    {
    }

    public function check(mixed $said, mixed $value): void
    {
        $this->hold($said, $value, '$');
    }

    public static function shown(mixed $value): string
    {
        if (!is_string($value)) {
            return is_object($value) ? $value::class : (is_array($value) ? 'an array' : strtolower(var_export($value, true)));
        }
        $text = preg_replace_callback('/[^ -~]/', fn ($m) => sprintf('\x%02x', ord($m[0])), substr($value, 0, 300));
        return "\"$text\"";
    }

    private function part(string $path, string $want, mixed $got): never
    {
        throw new Part("at $path: expected $want, found " . (is_string($got) ? $got : self::shown($got)));
    }

    // An element of an array: it may be a variable that is in other places too.
    private function element(mixed $said, array $array, int|string $key, string $path): void
    {
        $id = ReflectionReference::fromArrayElement($array, $key)?->getId();
        if (isset($said['alias'])) {
            if ($id === null || ($this->variables[$said['alias']] ?? null) !== $id) {
                throw new Part("at $path: expected the variable $said[alias] again");
            }
            return;
        }
        if (isset($said['var'])) {
            if ($id === null) {
                throw new Part("at $path: expected a variable that stands in more than one place");
            }
            $this->variables[$said['var']] = $id;
            $said = $said['is'];
        }
        if ($id !== null) {
            if (isset($this->metVariables[$id])) {
                throw new Part("at $path: the same variable as at {$this->metVariables[$id]}");
            }
            $this->metVariables[$id] = $path;
        }
        $this->hold($said, $array[$key], $path);
    }

    private function hold(mixed $said, mixed $got, string $path): void
    {
        if (!is_array($said)) {
            $this->leaf($said, $got, $path);
            return;
        }
        if (array_is_list($said)) {
            $this->arrayLike(array_map(null, array_keys($said), $said), $said, $got, $path);
            return;
        }
        $word = array_key_first(array_diff_key($said, ['kind' => 1]));
        $word = isset($said['id']) ? 'id' : $word;
        $word = isset($said['object']) ? 'object' : (isset($said['record']) ? 'record' : $word);
        match ($word) {
            'any' => null,
            'map' => $this->arrayLike($said['map'], null, $got, $path),
            'id', 'same', 'object', 'record', 'enum' => $this->object($word, $said, $got, $path),
            'deep' => $this->deep($said['deep'], $got, $path),
            'int' => $got === (int) $said['int'] || $this->part($path, "the integer $said[int]", self::shown($got)),
            'float' => $this->float($said['float'], $got, $path),
            'text', 'bytes' => $got === Bytes::string($said) || $this->part($path, 'the string ' . self::shown(Bytes::string($said)), self::shown($got)),
            default => throw new Part("at $path: no word of this host: " . implode(' ', array_keys($said))),
        };
    }

    private function leaf(mixed $said, mixed $got, string $path): void
    {
        if ($got !== $said) {
            $this->part($path, (is_int($said) ? 'the integer ' : (is_string($said) ? 'the string ' : '')) . self::shown($said), self::shown($got));
        }
    }

    private function float(string $bits, mixed $got, string $path): void
    {
        $found = is_float($got) ? bin2hex(pack('E', $got)) : '';
        if ($bits === 'nan' ? !is_float($got) || !is_nan($got) : $found !== $bits) {
            $this->part($path, "the float $bits", self::shown($got));
        }
    }

    // Entries of a map, or of a list: then $list has its items.
    private function arrayLike(array $entries, ?array $list, mixed $got, string $path): void
    {
        if (!is_array($got)) {
            $this->part($path, 'an array', $got);
        }
        if ($list !== null && !array_is_list($got)) {
            $this->part($path, 'a list', $got);
        }
        if (count($got) !== count($entries)) {
            $this->part($path, count($entries) . ($list === null ? ' entries' : ' items'), (string) count($got));
        }
        $this->entries($entries, $got, $path, $list !== null, false);
    }

    private function entries(array $entries, array $got, string $path, bool $isList, bool $isObject): void
    {
        if (!$this->isOrdered) {
            // Missing keys stay missing, and are found below.
            $wanted = array_flip(array_map(fn ($entry) => Bytes::string($entry[0]), $entries));
            $got = array_intersect_key(array_replace(array_intersect_key($wanted, $got), $got), $got);
        }
        $keys = array_keys($got);
        foreach ($entries as $n => [$key, $item]) {
            $key = Bytes::string($key);
            $found = $isObject ? (string) $keys[$n] : $keys[$n];
            if ($found !== ($isObject ? (string) $key : $key)) {
                $this->part($path, 'the key ' . self::shown($key), self::shown($found));
            }
            $this->element($item, $got, $keys[$n], $path . ($isList ? "[$key]" : '.' . preg_replace('/[^ -~]/', '?', (string) $key)));
        }
    }

    private function deep(array $deep, mixed $got, string $path): void
    {
        [$levels, $word, $inner] = $deep;
        for ($level = 1; $level <= $levels; $level++) {
            if (!is_array($got) || array_keys($got) !== [$word === 'list' ? 0 : 'a']) {
                throw new Part("at $path: level $level, expected a $word, found " . self::shown($got));
            }
            $got = current($got);
        }
        $this->hold($inner, $got, "$path, level $levels");
    }

    private function object(string $word, array $said, mixed $got, string $path): void
    {
        if ($word === 'enum') {
            if (!$got instanceof UnitEnum || $got::class . ':' . $got->name !== $said['enum']) {
                $this->part($path, "the enum $said[enum]", $got instanceof UnitEnum ? $got::class . ':' . $got->name : self::shown($got));
            }
            return;
        }
        if ($word === 'same') {
            if (($this->objects[$said['same']] ?? null) !== $got) {
                $this->part($path, "object $said[same] again", $got);
            }
            return;
        }
        if ($word === 'id') {
            // Arrays are values here, and have no identity.
            if (is_object($got)) {
                $this->objects[$said['id']] = $got;
            }
            $this->hold($said['is'], $got, $path);
            return;
        }
        if (!is_object($got)) {
            $this->part($path, $word === 'record' ? 'a record' : 'an object', self::shown($got));
        }
        // The object is kept, so that its id is not reused.
        $id = spl_object_id($got);
        if (isset($this->metObjects[$id])) {
            throw new Part("at $path: the same object as at {$this->metObjects[$id][0]}");
        }
        $this->metObjects[$id] = [$path, $got];
        $word === 'record' ? $this->record($said, $got, $path) : $this->members($said, $got, $path);
    }

    private function record(array $said, object $got, string $path): void
    {
        if (!$got instanceof Icecore\Record) {
            $this->part($path, 'a record', $got);
        }
        $name = Bytes::string($said['record']);
        if ($got->class !== $name) {
            $this->part($path, "a record of $name", $got->class);
        }
        if (isset($said['kind']) && $got->kind !== $said['kind']) {
            $this->part($path, "the kind $said[kind]", $got->kind);
        }
        $this->hold($said['is'], $got->properties, $path);
    }

    private function members(array $said, object $got, string $path): void
    {
        $members = (array) $got;
        $class = $got::class;
        // A class that is not defined.
        if ($got instanceof __PHP_Incomplete_Class) {
            $class = $members['__PHP_Incomplete_Class_Name'];
            unset($members['__PHP_Incomplete_Class_Name']);
        }
        $name = Bytes::string($said['object']);
        if ($class !== $name) {
            $this->part($path, "an object of $name", $class);
        }
        $entries = $said['is']['map'] ?? array_map(null, array_keys($said['is']), $said['is']);
        if (count($members) !== count($entries)) {
            $this->part($path, count($entries) . ' members', implode(', ', array_keys($members)));
        }
        $this->entries($entries, $members, $path, false, true);
    }
}
