<?php
// Compares a value with a description. Walks both in the order of the description, and throws a
// Mismatch at the first difference.
//
//   (new Checker)->check($description, $value);

declare(strict_types=1);

final class Checker
{
    private array $objects = [];        // by the id of the description
    private array $variables = [];      // by the id of the description
    private array $objectPaths = [];    // the path of each object so far, and the object
    private array $variablePaths = [];

    // The order of keys is not compared for JSON.
    public function __construct(private readonly bool $isOrdered = true)
    {
    }

    public function check(mixed $description, mixed $value): void
    {
        $this->compare($description, $value, '$');
    }

    public static function shown(mixed $value): string
    {
        if (!is_string($value)) {
            return is_object($value) ? $value::class
                : (is_array($value) ? 'an array' : strtolower(var_export($value, true)));
        }
        $text = preg_replace_callback('/[^ -~]/', fn ($m) => sprintf('\x%02x', ord($m[0])), substr($value, 0, 300));
        return "\"$text\"";
    }

    private function fail(string $path, string $expected, mixed $found): never
    {
        throw new Mismatch("at $path: expected $expected, found "
            . (is_string($found) ? $found : self::shown($found)));
    }

    // Compares an element of an array. It may be a variable that is in other places too.
    private function compareElement(mixed $description, array $array, int|string $key, string $path): void
    {
        $id = ReflectionReference::fromArrayElement($array, $key)?->getId();
        if (isset($description['alias'])) {
            if ($id === null || ($this->variables[$description['alias']] ?? null) !== $id) {
                throw new Mismatch("at $path: expected the variable $description[alias] again");
            }
            return;
        }
        if (isset($description['var'])) {
            if ($id === null) {
                throw new Mismatch("at $path: expected a variable that is in more than one place");
            }
            $this->variables[$description['var']] = $id;
            $description = $description['is'];
        }
        if ($id !== null) {
            if (isset($this->variablePaths[$id])) {
                throw new Mismatch("at $path: the same variable as at {$this->variablePaths[$id]}");
            }
            $this->variablePaths[$id] = $path;
        }
        $this->compare($description, $array[$key], $path);
    }

    private function compare(mixed $description, mixed $value, string $path): void
    {
        if (!is_array($description)) {
            $this->compareLeaf($description, $value, $path);
            return;
        }
        if (array_is_list($description)) {
            $this->compareArray(array_map(null, array_keys($description), $description), $description, $value, $path);
            return;
        }
        $kind = array_key_first(array_diff_key($description, ['kind' => 1]));
        $kind = isset($description['id']) ? 'id' : $kind;
        $kind = isset($description['object']) ? 'object' : (isset($description['record']) ? 'record' : $kind);
        match ($kind) {
            'any' => null,
            'map' => $this->compareArray($description['map'], null, $value, $path),
            'id', 'same', 'object', 'record', 'enum' => $this->compareObject($kind, $description, $value, $path),
            'deep' => $this->compareLevels($description['deep'], $value, $path),
            'int' => $value === (int) $description['int']
                || $this->fail($path, "the integer $description[int]", self::shown($value)),
            'float' => $this->compareFloat($description['float'], $value, $path),
            'text', 'bytes' => $value === Bytes::string($description)
                || $this->fail($path, 'the string ' . self::shown(Bytes::string($description)), self::shown($value)),
            default => throw new Mismatch("at $path: no word of this host: "
                . implode(' ', array_keys($description))),
        };
    }

    private function compareLeaf(mixed $description, mixed $value, string $path): void
    {
        if ($value !== $description) {
            $this->fail($path,
                (is_int($description) ? 'the integer ' : (is_string($description) ? 'the string ' : ''))
                . self::shown($description), self::shown($value));
        }
    }

    private function compareFloat(string $bits, mixed $value, string $path): void
    {
        $foundBits = is_float($value) ? bin2hex(pack('E', $value)) : '';
        if ($bits === 'nan' ? !is_float($value) || !is_nan($value) : $foundBits !== $bits) {
            $this->fail($path, "the float $bits", self::shown($value));
        }
    }

    // Compares the entries of a map, or of a list. For a list, $list has its items.
    private function compareArray(array $entries, ?array $list, mixed $value, string $path): void
    {
        if (!is_array($value)) {
            $this->fail($path, 'an array', $value);
        }
        if ($list !== null && !array_is_list($value)) {
            $this->fail($path, 'a list', $value);
        }
        if (count($value) !== count($entries)) {
            $this->fail($path, count($entries) . ($list === null ? ' entries' : ' items'), (string) count($value));
        }
        $this->compareEntries($entries, $value, $path, $list !== null, false);
    }

    private function compareEntries(array $entries, array $value, string $path, bool $isList, bool $isObject): void
    {
        if (!$this->isOrdered) {
            // Sorts the keys as the description does. Missing keys stay missing, and are found below.
            $expected = array_flip(array_map(fn ($entry) => Bytes::string($entry[0]), $entries));
            $value = array_intersect_key(array_replace(array_intersect_key($expected, $value), $value), $value);
        }
        $keys = array_keys($value);
        foreach ($entries as $index => [$key, $item]) {
            $key = Bytes::string($key);
            $foundKey = $isObject ? (string) $keys[$index] : $keys[$index];
            if ($foundKey !== ($isObject ? (string) $key : $key)) {
                $this->fail($path, 'the key ' . self::shown($key), self::shown($foundKey));
            }
            $this->compareElement($item, $value, $keys[$index], $path
                . ($isList ? "[$key]" : '.' . preg_replace('/[^ -~]/', '?', (string) $key)));
        }
    }

    private function compareLevels(array $deep, mixed $value, string $path): void
    {
        [$levels, $kind, $inner] = $deep;
        for ($level = 1; $level <= $levels; $level++) {
            if (!is_array($value) || array_keys($value) !== [$kind === 'list' ? 0 : 'a']) {
                throw new Mismatch("at $path: level $level, expected a $kind, found " . self::shown($value));
            }
            $value = current($value);
        }
        $this->compare($inner, $value, "$path, level $levels");
    }

    private function compareObject(string $kind, array $description, mixed $value, string $path): void
    {
        if ($kind === 'enum') {
            if (!$value instanceof UnitEnum || $value::class . ':' . $value->name !== $description['enum']) {
                $found = $value instanceof UnitEnum ? $value::class . ':' . $value->name : self::shown($value);
                $this->fail($path, "the enum $description[enum]", $found);
            }
            return;
        }
        if ($kind === 'same') {
            if (($this->objects[$description['same']] ?? null) !== $value) {
                $this->fail($path, "object $description[same] again", $value);
            }
            return;
        }
        if ($kind === 'id') {
            // In PHP, arrays have no identity.
            if (is_object($value)) {
                $this->objects[$description['id']] = $value;
            }
            $this->compare($description['is'], $value, $path);
            return;
        }
        if (!is_object($value)) {
            $this->fail($path, $kind === 'record' ? 'a record' : 'an object', self::shown($value));
        }
        // Keeping the object keeps its id from being reused.
        $id = spl_object_id($value);
        if (isset($this->objectPaths[$id])) {
            throw new Mismatch("at $path: the same object as at {$this->objectPaths[$id][0]}");
        }
        $this->objectPaths[$id] = [$path, $value];
        if ($kind === 'record') {
            $this->compareRecord($description, $value, $path);
        } else {
            $this->compareMembers($description, $value, $path);
        }
    }

    private function compareRecord(array $description, object $value, string $path): void
    {
        if (!$value instanceof Icecore\Record) {
            $this->fail($path, 'a record', $value);
        }
        $name = Bytes::string($description['record']);
        if ($value->class !== $name) {
            $this->fail($path, "a record of $name", $value->class);
        }
        if (isset($description['kind']) && $value->kind !== $description['kind']) {
            $this->fail($path, "the kind $description[kind]", $value->kind);
        }
        $this->compare($description['is'], $value->properties, $path);
    }

    private function compareMembers(array $description, object $value, string $path): void
    {
        $members = (array) $value;
        $class = $value::class;
        // The class is not defined.
        if ($value instanceof __PHP_Incomplete_Class) {
            $class = $members['__PHP_Incomplete_Class_Name'];
            unset($members['__PHP_Incomplete_Class_Name']);
        }
        $name = Bytes::string($description['object']);
        if ($class !== $name) {
            $this->fail($path, "an object of $name", $class);
        }
        $entries = $description['is']['map'] ?? array_map(null, array_keys($description['is']), $description['is']);
        if (count($members) !== count($entries)) {
            $this->fail($path, count($entries) . ' members', implode(', ', array_keys($members)));
        }
        $this->compareEntries($entries, $members, $path, false, true);
    }
}
