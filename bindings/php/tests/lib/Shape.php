<?php
// Shows a value as text. Two values have equal texts only if a program can't tell them apart by types,
// order of keys, the next free key, identity of objects and variables, uninitialised properties,
// and the contents of PHP's own classes.
//
//   Shape::of([&$a, &$a])    [0=>&1 int 1, 1=>&1] next 2

declare(strict_types=1);

final class Shape
{
    private array $objects = [];
    private array $variables = [];
    private array $slots = [];
    private int $nodes = 0;
    private int $limit;

    // Shows at most $limit values. Nested shared arrays could make the text very long.
    public static function of(mixed $value, int $limit = 20_000): string
    {
        $shape = new self;
        $shape->limit = $limit;
        $text = $shape->value($value);
        return $text . $shape->typedReferences();
    }

    public static function string(string $text): string
    {
        return '"' . preg_replace_callback('/[^ !#-\[\]-~]/', fn ($m) => sprintf('\x%02x', ord($m[0])), $text) . '"';
    }

    private function value(mixed $value): string
    {
        if (++$this->nodes > $this->limit) {
            return 'and more';
        }
        return match (true) {
            is_string($value) => self::string($value),
            is_float($value) => 'float ' . (is_nan($value) ? 'nan' : bin2hex(pack('E', $value))),
            is_array($value) => $this->entries($value) . ' next ' . self::nextKey($value),
            $value instanceof UnitEnum => $value::class . '::' . $value->name,
            is_object($value) => $this->object($value),
            is_resource($value) => 'resource',
            default => get_debug_type($value) . ' ' . json_encode($value),
        };
    }

    private static function nextKey(array $array): string
    {
        try {
            $array[] = null;
            return (string) array_key_last($array);
        } catch (Error $error) {
            return $error->getMessage();
        }
    }

    private function entries(array $array): string
    {
        $items = [];
        foreach ($array as $key => $item) {
            $mark = '';
            if ($id = ReflectionReference::fromArrayElement($array, $key)?->getId()) {
                $isNew = !isset($this->variables[$id]);
                $number = $this->variables[$id] ??= count($this->variables) + 1;
                $mark = "&$number";
                if (!$isNew) {
                    $items[] = self::key($key) . "=>$mark";
                    continue;
                }
                $mark .= ' ';
                $this->slots[$number] = &$array[$key];
            }
            $items[] = self::key($key) . "=>$mark" . $this->value($item);
        }
        return '[' . implode(', ', $items) . ']';
    }

    private static function key(int|string $key): string
    {
        return is_int($key) ? (string) $key : self::string($key);
    }

    private function object(object $object): string
    {
        // Keeping the object keeps its id from being reused.
        $id = spl_object_id($object);
        if (isset($this->objects[$id])) {
            return "#{$this->objects[$id][0]}";
        }
        $number = count($this->objects) + 1;
        $this->objects[$id] = [$number, $object];
        $class = str_contains($object::class, '@anonymous') ? 'class@anonymous' : $object::class;
        $members = get_mangled_object_vars($object);
        // An exception has its call stack, which differs between the implementations.
        if ($object instanceof Throwable
            && str_starts_with((string) ($members["\0*\0file"] ?? ''), dirname(__DIR__))) {
            unset($members["\0Exception\0trace"], $members["\0Error\0trace"], $members["\0*\0line"],
                $members["\0*\0file"]);
        }
        $text = "#$number $class {" . $this->entries($members) . '}';
        try {
            return $text . $this->inside($object);
        } catch (Error | Exception $error) {
            return "$text inside " . $error::class . ': ' . $error->getMessage();
        }
    }

    // The contents of PHP's own classes in addition to their properties.
    private function inside(object $object): string
    {
        $inside = match (true) {
            $object instanceof ArrayObject => self::serializedByBuiltin(ArrayObject::class, $object),
            $object instanceof ArrayIterator => self::serializedByBuiltin(ArrayIterator::class, $object),
            $object instanceof SplObjectStorage => self::serializedByBuiltin(SplObjectStorage::class, $object),
            $object instanceof SplDoublyLinkedList =>
                [$object->getIteratorMode(), self::serializedByBuiltin(SplDoublyLinkedList::class, $object)],
            $object instanceof SplFixedArray =>
                [$object->getSize(), SplFixedArray::fromArray($object->toArray())->toArray()],
            $object instanceof SplHeap =>
                [$object->isCorrupted(), count($object), iterator_to_array(clone $object, false)],
            $object instanceof SplPriorityQueue =>
                [$object->isCorrupted(), $object->getExtractFlags(), count($object),
                iterator_to_array(clone $object, false)],
            // PHP has read an invalid date as the current time.
            $object instanceof DateTimeInterface && abs($object->getTimestamp() - time()) < 200_000 => 'about now',
            $object instanceof DateTimeInterface => [(array) $object, $object->format('Y-m-d H:i:s.u e P I')],
            $object instanceof DateTimeZone => [(array) $object, $object->getName()],
            $object instanceof DateInterval => [(array) $object, $object->format('%R %y %m %d %h %i %s %f %a')],
            $object instanceof DatePeriod => (array) $object,
            interface_exists('Random\Engine')
                && $object instanceof Random\Engine => method_exists($object, '__debugInfo')
                ? $object->__debugInfo() : null,
            default => null,
        };
        return $inside === null ? '' : ' inside ' . $this->value($inside);
    }

    // Calls the method of the built-in class, even if the class of the object has a __serialize of its own.
    private static function serializedByBuiltin(string $class, object $object): array
    {
        return (new ReflectionMethod($class, '__serialize'))->invoke($object);
    }

    // A variable that is also a typed property accepts only values of that type, whatever place it is
    // set through. Returns the types that each such variable accepts.
    private function typedReferences(): string
    {
        $text = '';
        foreach ($this->slots as $number => &$slot) {
            $before = $slot;
            $accepted = [];
            foreach (['text', 1, 1.5, null, [], false, new stdClass] as $probe) {
                try {
                    $slot = $probe;
                    $accepted[] = get_debug_type($slot);
                } catch (TypeError) {
                    $accepted[] = '-';
                }
            }
            $slot = $before;
            if (in_array('-', $accepted, true)) {
                $text .= "\n  &$number accepts " . implode(' ', $accepted);
            }
        }
        return $text;
    }
}
