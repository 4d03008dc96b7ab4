<?php
// Random values of all kinds.

declare(strict_types=1);

final class ValueMaker
{
    private array $objects = [];
    private array $variables = [];
    private int $remaining;
    private array $classNames;

    // $isSafe excludes recursive values, and values that can't be written.
    public function __construct(array $classes, private readonly bool $isSafe = false,
        private readonly int $depth = 5)
    {
        $this->classNames = array_keys($classes);
        $this->remaining = 4 + Rng::below(40);
    }

    public function value(): mixed
    {
        $root = null;
        $before = error_reporting(E_ERROR);
        try {
            $this->makeInto($root, Rng::weighted(['any' => 1, 'container' => 4]), 0);
        } catch (TypeError) {
            // The value is kept as far as it was made.
        } finally {
            error_reporting($before);
        }
        return $root;
    }

    private function makeInto(mixed &$slot, string $kind, int $depth): void
    {
        $this->remaining--;
        $isLeaf = $depth >= $this->depth || $this->remaining <= 0;
        $kind = match (true) {
            $kind !== 'any' && $kind !== 'container' => $kind,
            $isLeaf => Rng::weighted(['scalar' => 10, 'same' => 2, 'enum' => 1]),
            default => Rng::weighted(($kind === 'any' ? ['scalar' => 40] : [])
                + ['array' => 22, 'object' => 18, 'stdClass' => 5, 'same' => 6, 'enum' => 3, 'spl' => 5, 'date' => 3,
                'random' => 1, 'incomplete' => 2, 'other' => 1]),
        };
        match ($kind) {
            'scalar' => $slot = $this->scalar(),
            'array' => $this->fillArray($slot, $depth),
            'object' => $this->classNames
                ? $this->objectOf($slot, Rng::pick($this->classNames), $depth) : $slot = new stdClass,
            'stdClass' => $this->dynamicObject($slot, $depth),
            'same' => $slot = $this->objects ? Rng::pick($this->objects) : null,
            'enum' => $slot = Rng::pick([...Suit::cases(), ...Level::cases(), ...Plainly::cases()]),
            'spl' => $this->splObject($slot, $depth),
            'date' => $slot = $this->remember($this->date()),
            'random' => $slot = $this->remember($this->randomEngine()),
            'incomplete' => $this->incompleteObject($slot),
            'other' => $this->unwritable($slot),
        };
    }

    private function remember(object $object): object
    {
        return $this->objects[] = $object;
    }

    private function nested(int $depth): mixed
    {
        $value = null;
        $this->makeInto($value, 'any', $depth + 1);
        return $value;
    }

    public function scalar(): mixed
    {
        return match (Rng::below(6)) {
            0 => Rng::pick([null, true, false]),
            1 => Rng::pick([0, 1, -1, 9, 10, 99, 100, 127, 128, -128, -129, 255, 256, 32767, 65535, 65536,
                2 ** 31 - 1, 2 ** 31, -2 ** 31, -2 ** 31 - 1, 2 ** 32, PHP_INT_MAX, PHP_INT_MAX - 1, PHP_INT_MIN,
                PHP_INT_MIN + 1, mt_rand(), -mt_rand()]),
            2 => $this->float(),
            default => $this->string(),
        };
    }

    private function float(): float
    {
        return Rng::oneIn(2)
            ? Rng::pick([0.0, -0.0, 1.0, -1.0, 0.1, 0.2 + 0.1, 1.5, 1e15, 1e16, 1e17, 1e18, 123456789012345678.0, 1e22, 1e100, 1e-4, 1e-5, 0.00012345, 1e-300,
            5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, INF, -INF, NAN, 3.0e-7, (float) PHP_INT_MAX,
            (float) PHP_INT_MIN])
            : unpack('E', pack('N2', mt_rand(0, 0xffffffff), mt_rand(0, 0xffffffff)))[1];
    }

    private function string(): string
    {
        return match (Rng::below(8)) {
            0 => '',
            1 => Rng::pick(["\0", "a\0b", "\xff\xfe", "caf\u{e9}", "\u{263a}", "\u{1f600}", "'", '"', '\\',
                "a'b\\c\"d", "\n\r\t", '$x {$y}', ';}', 'i:1;', 'O:8:"stdClass":0:{}', "?>", '<?php']),
            2 => str_repeat(chr(97 + Rng::below(26)),
                Rng::pick([1, 2, 15, 16, 17, 63, 64, 255, 256, 300, 1000, 70000])),
            3 => Rng::pick(['0', '1', '-1', '01', '1.5', '1e3', '9223372036854775807', '9223372036854775808', '-0',
                '0x1f', 'true', 'null', 'INF']),
            4 => random_bytes_by_dice(Rng::below(20)),
            default => Rng::pick(['p', 'q', 'name', 'value', 'alpha', 'beta', 'a longer text with blanks', 'Made1',
                'stdClass']),
        };
    }

    private function key(): int|string
    {
        return match (Rng::below(6)) {
            0 => Rng::pick([0, 1, 2, 5, 7, 100, -1, -5, 1000000, PHP_INT_MAX, PHP_INT_MIN]),
            1 => Rng::pick(['0', '1', '-1', '01', '1.5', '-0', '', ' 1', '9223372036854775808', "\0", "a\0b",
                "\0*\0p", "\xff"]),
            default => Rng::pick(['p', 'q', 'r', 's', 'id', 'name', 'type', 'value', 'options', 'some_longer_key',
                'x']),
        };
    }

    // Fills the array in place, so that its contents can refer to it.
    private function fillArray(mixed &$slot, int $depth): void
    {
        $slot = [];
        $count = Rng::pick([0, 1, 2, 3, 3, 4, 8, 17]);
        $kind = Rng::weighted(['list' => 5, 'map' => 5, 'holes' => 1, 'sparse' => 1, 'table' => 1]);
        if ($kind === 'table') {
            $keys = array_slice(['id', 'name', 'type', 'value', 'p'], 0, 1 + Rng::below(5));
            for ($n = 0; $n < $count && $this->remaining > 0; $n++) {
                $slot[] = array_map(fn () => $this->scalar(), array_flip($keys));
            }
            return;
        }
        if (!$this->isSafe && Rng::oneIn(8)) {
            $this->variables[] = &$slot;
        }
        for ($n = 0; $n < $count; $n++) {
            $key = match ($kind) {
                'map' => $this->key(),
                'sparse' => Rng::below(30) - 10,
                default => $n,
            };
            // An inner variable may have been this one, and have set another value.
            if (!is_array($slot)) {
                return;
            }
            $this->fillItem($slot, $key, $depth);
        }
        if ($kind === 'holes' && $slot && is_array($slot)) {
            unset($slot[array_rand($slot)]);
        }
    }

    private function fillItem(array &$array, int|string $key, int $depth): void
    {
        if ($this->variables && Rng::oneIn(10)) {
            $array[$key] = &$this->variables[array_rand($this->variables)];
            return;
        }
        unset($array[$key]);
        $array[$key] = null;
        if (Rng::oneIn(10)) {
            $this->variables[] = &$array[$key];
        }
        $this->makeIntoIfTypeAllows($array[$key], $depth + 1);
    }

    // The variable may also be a typed property, which refuses values of other types.
    private function makeIntoIfTypeAllows(mixed &$slot, int $depth): void
    {
        try {
            $this->makeInto($slot, 'any', $depth);
        } catch (TypeError) {
        }
    }

    private function objectOf(mixed &$slot, string $class, int $depth): void
    {
        $object = $slot = $this->remember((new ReflectionClass($class))->newInstanceWithoutConstructor());
        // Some objects get a hash table of properties in addition to the slots: before or after the
        // properties are set.
        $hasTable = $object instanceof Traversable ? 0 : Rng::below(6);
        if ($hasTable === 1) {
            self::makePropertyTable($object);
        }
        for ($ancestor = new ReflectionClass($class); $ancestor; $ancestor = $ancestor->getParentClass()) {
            foreach ($ancestor->getProperties() as $property) {
                if (!$property->isStatic() && $property->class === $ancestor->name && !Rng::oneIn(5)) {
                    $this->setProperty($object, $property, $depth);
                }
            }
        }
        if ((new ReflectionClass($class))->getAttributes('AllowDynamicProperties') && Rng::oneIn(2)) {
            $name = (string) Rng::pick(['extra', '5', 'x y', "caf\u{e9}"]);
            try {
                $object->$name = $this->nested($depth);
            } catch (Error) {
            }
        }
        if ($hasTable === 2) {
            self::makePropertyTable($object);
        }
    }

    private static function makePropertyTable(object $object): void
    {
        foreach ($object as $_) {
            break;
        }
    }

    private function setProperty(object $object, ReflectionProperty $property, int $depth): void
    {
        $name = $property->name;
        $value = $property->hasType()
            ? $this->valueOfType((string) $property->getType(), $object, $depth) : $this->nested($depth);
        $isUnset = !$property->isReadOnly() && Rng::oneIn(15);
        $alias = null;
        if (!$property->isReadOnly() && Rng::oneIn(8)) {
            if ($this->variables && Rng::oneIn(2)) {
                $alias = &$this->variables[array_rand($this->variables)];
            } else {
                $this->variables[] = &$alias;
                $alias = $value;
            }
        }
        $hasAlias = ReflectionReference::fromArrayElement([&$alias], 0) !== null && $alias !== null;
        try {
            (function () use ($name, $value, $isUnset, $hasAlias, &$alias) {
                if ($isUnset) {
                    unset($this->$name);
                } elseif ($hasAlias) {
                    $this->$name = &$alias;
                } else {
                    $this->$name = $value;
                }
            })->bindTo($object, $property->class)();
        } catch (Error) {
            // The type of that property does not allow this value.
        }
    }

    private function valueOfType(string $type, object $object, int $depth): mixed
    {
        if (str_contains($type, '&')) {
            return $this->remember(new ArrayObject([1]));
        }
        $types = explode('|', ltrim($type, '?'));
        if (($type[0] === '?' || in_array('null', $types, true)) && Rng::oneIn(4)) {
            return null;
        }
        $array = [];
        return match (ltrim(Rng::pick($types), '\\')) {
            'int' => Rng::pick([0, 1, -7, PHP_INT_MAX]),
            'float' => $this->float(),
            'string' => $this->string(),
            'bool' => Rng::oneIn(2),
            'array', 'iterable' => [$this->fillArray($array, $depth + 1), $array][1],
            'null' => null,
            'mixed' => $this->nested($depth),
            'self' => $object,
            'stdClass' => $this->remember((object) ['n' => Rng::below(9)]),
            'Suit' => Rng::pick(Suit::cases()),
            'Level' => Rng::pick(Level::cases()),
            'ArrayObject' => $this->remember(new ArrayObject(['x' => 1])),
            'DateTimeInterface', 'DateTimeImmutable' => $this->remember(new DateTimeImmutable('2021-03-04 05:06:07')),
            default => $this->objects ? Rng::pick($this->objects) : $this->remember(new stdClass),
        };
    }

    private function dynamicObject(mixed &$slot, int $depth): void
    {
        $object = $slot = $this->remember(new stdClass);
        for ($n = Rng::below(5); $n > 0; $n--) {
            $name = (string) $this->key();
            if ($name !== '' && $name[0] === "\0") {
                continue;
            }
            if ($this->variables && Rng::oneIn(8)) {
                $object->$name = &$this->variables[array_rand($this->variables)];
            } elseif (Rng::oneIn(8)) {
                $object->$name = null;
                $this->variables[] = &$object->$name;
                $this->makeIntoIfTypeAllows($object->$name, $depth + 1);
            } else {
                $object->$name = $this->nested($depth);
            }
        }
    }

    private function splObject(mixed &$slot, int $depth): void
    {
        $class = Rng::pick(['ArrayObject', 'ArrayObject', 'ArrayIterator', 'ExtendedObject', 'SplObjectStorage',
            'ExtendedStorage', 'SplDoublyLinkedList', 'ExtendedList', 'SplQueue', 'SplStack', 'SplFixedArray',
            'ExtendedFixed', 'SplMinHeap', 'SplMaxHeap', 'ExtendedHeap', 'SplPriorityQueue', 'ExtendedException',
            'RecursiveArrayIterator', 'SplTempFileObject', 'MultipleIterator']);
        $object = $slot = $this->remember(match ($class) {
            'ArrayObject', 'ExtendedObject' => new $class(
                Rng::oneIn(4) ? (object) ['a' => $this->nested($depth)] : ['a' => $this->nested($depth), 5 => 1],
                Rng::below(4),
            ),
            'ArrayIterator', 'RecursiveArrayIterator' => new $class([1, 'k' => $this->nested($depth)], Rng::below(4)),
            'SplFixedArray', 'ExtendedFixed' => new $class(Rng::below(4)),
            'ExtendedException' => new $class('text', 5, Rng::oneIn(2) ? null : new LogicException('inner')),
            default => new $class,
        });
        for ($n = Rng::below(4); $n > 0; $n--) {
            match (true) {
                $object instanceof MultipleIterator => $object->attachIterator(new ArrayIterator([1]), $n),
                $object instanceof SplObjectStorage =>
                    $object->attach($this->objects[array_rand($this->objects)], $this->nested($depth)),
                $object instanceof SplDoublyLinkedList => $object->push($this->nested($depth)),
                $object instanceof SplFixedArray => $n <= $object->getSize()
                    ? $object[$n - 1] = $this->nested($depth) : null,
                $object instanceof SplPriorityQueue => $object->insert($n, $n * 7 % 3),
                $object instanceof SplHeap => $object->insert($n * 7 % 5),
                default => null,
            };
        }
        if ($object instanceof SplDoublyLinkedList && $object::class === 'SplDoublyLinkedList' && Rng::oneIn(2)) {
            $object->setIteratorMode(Rng::below(4));
        }
        if (isset($object->extra) && Rng::oneIn(2)) {
            $object->extra = $this->nested($depth);
        }
    }

    private function date(): object
    {
        $zone = Rng::pick(['UTC', 'Europe/Berlin', '+02:00', '-05:30', 'EST', 'CEST', 'America/New_York']);
        $when = Rng::pick(['2020-02-29 12:34:56.789012', '1970-01-01', '2038-01-19 03:14:08', '-0044-03-15',
            '2021-10-31 02:30:00', '9999-12-31 23:59:59']);
        return match (Rng::below(7)) {
            0, 1 => new DateTime($when, new DateTimeZone($zone)),
            2 => new DateTimeImmutable($when, new DateTimeZone($zone)),
            3 => new ExtendedDate($when, new DateTimeZone($zone)),
            4 => new DateTimeZone($zone),
            5 => Rng::oneIn(2)
                ? new DateInterval(Rng::pick(['P1Y2M3DT4H5M6S', 'PT0S', 'P10D'])) : (Rng::oneIn(2)
                ? (new DateTime('2020-01-01'))->diff(new DateTime($when)) : DateInterval::createFromDateString(Rng::pick(['1 day', 'last day of next month', '3 weekdays ago']))),
            6 => new DatePeriod(new DateTimeImmutable($when, new DateTimeZone($zone)), new DateInterval('P1D'),
                Rng::oneIn(2) ? 3 : new DateTimeImmutable('2040-01-01'), Rng::below(2)),
        };
    }

    private function randomEngine(): object
    {
        if (PHP_VERSION_ID < 80200) {
            return new stdClass;
        }
        $engine = Rng::pick(['Random\Engine\Mt19937', 'Random\Engine\PcgOneseq128XslRr64',
            'Random\Engine\Xoshiro256StarStar', 'Random\Engine\Secure']);
        $engine = $engine === 'Random\Engine\Secure' ? new $engine : new $engine(Rng::below(100));
        return Rng::oneIn(2) ? $engine : new Random\Randomizer($engine);
    }

    private function incompleteObject(mixed &$slot): void
    {
        $slot = $this->remember(\unserialize('O:' . Rng::pick(['7:"Missing"', '14:"Also\\Not\\There"', '1:"X"']) . ':'
            . Rng::pick(['0:{}', '1:{s:1:"p";i:1;}', "2:{s:4:\"\0*\0p\";i:1;s:4:\"\0X\0q\";a:1:{i:0;N;}}"]),
            ['allowed_classes' => false]));
    }

    // Sets a value that can't be written, or that is written as something else.
    private function unwritable(mixed &$slot): void
    {
        $slot = $this->isSafe ? new stdClass : match (Rng::below(8)) {
            0 => fn () => 1,
            1 => new class {
                public $p = 1;
            },
            2 => STDIN,
            3 => (function () { yield 1; })(),
            4 => new ReflectionClass('stdClass'),
            5 => WeakReference::create(new stdClass),
            6 => new WeakMap,
            7 => new SplFileInfo('/tmp'),
        };
    }
}

function random_bytes_by_dice(int $length): string
{
    $bytes = '';
    while ($length-- > 0) {
        $bytes .= chr(mt_rand(0, 255));
    }
    return $bytes;
}
