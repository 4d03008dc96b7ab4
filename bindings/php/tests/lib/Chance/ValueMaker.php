<?php
// Random values of all kinds.

declare(strict_types=1);

final class ValueMaker
{
    private array $objects = [];
    private array $variables = [];
    private int $left;
    private array $made;

    // $isSafe excludes recursive values, and values that no format can express.
    public function __construct(array $classes, private readonly bool $isSafe = false, private readonly int $depth = 5)
    {
        $this->made = array_keys($classes);
        $this->left = 4 + Dice::below(40);
    }

    public function value(): mixed
    {
        $root = null;
        $before = error_reporting(E_ERROR);
        try {
            $this->put($root, Dice::weighted(['any' => 1, 'container' => 4]), 0);
        } catch (TypeError) {
            // The part that was made is a value too.
        } finally {
            error_reporting($before);
        }
        return $root;
    }

    private function put(mixed &$slot, string $kind, int $depth): void
    {
        $this->left--;
        $isLeaf = $depth >= $this->depth || $this->left <= 0;
        $kind = match (true) {
            $kind !== 'any' && $kind !== 'container' => $kind,
            $isLeaf => Dice::weighted(['scalar' => 10, 'same' => 2, 'enum' => 1]),
            default => Dice::weighted(($kind === 'any' ? ['scalar' => 40] : []) + ['array' => 22, 'object' => 18, 'stdClass' => 5, 'same' => 6, 'enum' => 3, 'spl' => 5, 'date' => 3, 'random' => 1, 'incomplete' => 2, 'other' => 1]),
        };
        match ($kind) {
            'scalar' => $slot = $this->scalar(),
            'array' => $this->array($slot, $depth),
            'object' => $this->made ? $this->object($slot, Dice::pick($this->made), $depth) : $slot = new stdClass,
            'stdClass' => $this->dynamic($slot, $depth),
            'same' => $slot = $this->objects ? Dice::pick($this->objects) : null,
            'enum' => $slot = Dice::pick([...Suit::cases(), ...Level::cases(), ...Plainly::cases()]),
            'spl' => $this->spl($slot, $depth),
            'date' => $slot = $this->keep($this->date()),
            'random' => $slot = $this->keep($this->random()),
            'incomplete' => $this->incomplete($slot),
            'other' => $this->other($slot),
        };
    }

    private function keep(object $object): object
    {
        return $this->objects[] = $object;
    }

    private function inner(int $depth): mixed
    {
        $value = null;
        $this->put($value, 'any', $depth + 1);
        return $value;
    }

    public function scalar(): mixed
    {
        return match (Dice::below(6)) {
            0 => Dice::pick([null, true, false]),
            1 => Dice::pick([0, 1, -1, 9, 10, 99, 100, 127, 128, -128, -129, 255, 256, 32767, 65535, 65536, 2 ** 31 - 1, 2 ** 31, -2 ** 31, -2 ** 31 - 1, 2 ** 32, PHP_INT_MAX, PHP_INT_MAX - 1, PHP_INT_MIN, PHP_INT_MIN + 1, mt_rand(), -mt_rand()]),
            2 => $this->float(),
            default => $this->string(),
        };
    }

    private function float(): float
    {
        return Dice::one(2)
            ? Dice::pick([0.0, -0.0, 1.0, -1.0, 0.1, 0.2 + 0.1, 1.5, 1e15, 1e16, 1e17, 1e18, 123456789012345678.0, 1e22, 1e100, 1e-4, 1e-5, 0.00012345, 1e-300, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, INF, -INF, NAN, 3.0e-7, (float) PHP_INT_MAX, (float) PHP_INT_MIN])
            : unpack('E', pack('N2', mt_rand(0, 0xffffffff), mt_rand(0, 0xffffffff)))[1];
    }

    private function string(): string
    {
        return match (Dice::below(8)) {
            0 => '',
            1 => Dice::pick(["\0", "a\0b", "\xff\xfe", "caf\u{e9}", "\u{263a}", "\u{1f600}", "'", '"', '\\', "a'b\\c\"d", "\n\r\t", '$x {$y}', ';}', 'i:1;', 'O:8:"stdClass":0:{}', "?>", '<?php']),
            2 => str_repeat(chr(97 + Dice::below(26)), Dice::pick([1, 2, 15, 16, 17, 63, 64, 255, 256, 300, 1000, 70000])),
            3 => Dice::pick(['0', '1', '-1', '01', '1.5', '1e3', '9223372036854775807', '9223372036854775808', '-0', '0x1f', 'true', 'null', 'INF']),
            4 => random_bytes_by_dice(Dice::below(20)),
            default => Dice::pick(['p', 'q', 'name', 'value', 'alpha', 'beta', 'a longer text with blanks', 'Made1', 'stdClass']),
        };
    }

    private function key(): int|string
    {
        return match (Dice::below(6)) {
            0 => Dice::pick([0, 1, 2, 5, 7, 100, -1, -5, 1000000, PHP_INT_MAX, PHP_INT_MIN]),
            1 => Dice::pick(['0', '1', '-1', '01', '1.5', '-0', '', ' 1', '9223372036854775808', "\0", "a\0b", "\0*\0p", "\xff"]),
            default => Dice::pick(['p', 'q', 'r', 's', 'id', 'name', 'type', 'value', 'options', 'some_longer_key', 'x']),
        };
    }

    // The array is filled in place, so that its contents can refer to it.
    private function array(mixed &$slot, int $depth): void
    {
        $slot = [];
        $count = Dice::pick([0, 1, 2, 3, 3, 4, 8, 17]);
        $kind = Dice::weighted(['list' => 5, 'map' => 5, 'holes' => 1, 'sparse' => 1, 'table' => 1]);
        if ($kind === 'table') {
            $keys = array_slice(['id', 'name', 'type', 'value', 'p'], 0, 1 + Dice::below(5));
            for ($n = 0; $n < $count && $this->left > 0; $n++) {
                $slot[] = array_map(fn () => $this->scalar(), array_flip($keys));
            }
            return;
        }
        if (!$this->isSafe && Dice::one(8)) {
            $this->variables[] = &$slot;
        }
        for ($n = 0; $n < $count; $n++) {
            $key = match ($kind) {
                'map' => $this->key(),
                'sparse' => Dice::below(30) - 10,
                default => $n,
            };
            // A variable inside may have been this one, and have got another value.
            if (!is_array($slot)) {
                return;
            }
            $this->item($slot, $key, $depth);
        }
        if ($kind === 'holes' && $slot && is_array($slot)) {
            unset($slot[array_rand($slot)]);
        }
    }

    private function item(array &$array, int|string $key, int $depth): void
    {
        if ($this->variables && Dice::one(10)) {
            $array[$key] = &$this->variables[array_rand($this->variables)];
            return;
        }
        unset($array[$key]);
        $array[$key] = null;
        if (Dice::one(10)) {
            $this->variables[] = &$array[$key];
        }
        $this->putWhereItFits($array[$key], $depth + 1);
    }

    // A variable may also have become a typed property, and accept no other types now.
    private function putWhereItFits(mixed &$slot, int $depth): void
    {
        try {
            $this->put($slot, 'any', $depth);
        } catch (TypeError) {
        }
    }

    private function object(mixed &$slot, string $class, int $depth): void
    {
        $object = $slot = $this->keep((new ReflectionClass($class))->newInstanceWithoutConstructor());
        // PHP then keeps a table of the properties next to the slots, now or when all is set.
        $hasTable = $object instanceof Traversable ? 0 : Dice::below(6);
        if ($hasTable === 1) {
            self::makeTable($object);
        }
        for ($at = new ReflectionClass($class); $at; $at = $at->getParentClass()) {
            foreach ($at->getProperties() as $property) {
                if (!$property->isStatic() && $property->class === $at->name && !Dice::one(5)) {
                    $this->property($object, $property, $depth);
                }
            }
        }
        if ((new ReflectionClass($class))->getAttributes('AllowDynamicProperties') && Dice::one(2)) {
            $name = (string) Dice::pick(['extra', '5', 'x y', "caf\u{e9}"]);
            try {
                $object->$name = $this->inner($depth);
            } catch (Error) {
            }
        }
        if ($hasTable === 2) {
            self::makeTable($object);
        }
    }

    private static function makeTable(object $object): void
    {
        foreach ($object as $_) {
            break;
        }
    }

    private function property(object $object, ReflectionProperty $property, int $depth): void
    {
        $name = $property->name;
        $value = $property->hasType() ? $this->typed((string) $property->getType(), $object, $depth) : $this->inner($depth);
        $isUnset = !$property->isReadOnly() && Dice::one(15);
        $alias = null;
        if (!$property->isReadOnly() && Dice::one(8)) {
            if ($this->variables && Dice::one(2)) {
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

    private function typed(string $type, object $object, int $depth): mixed
    {
        if (str_contains($type, '&')) {
            return $this->keep(new ArrayObject([1]));
        }
        $types = explode('|', ltrim($type, '?'));
        if (($type[0] === '?' || in_array('null', $types, true)) && Dice::one(4)) {
            return null;
        }
        $array = [];
        return match (ltrim(Dice::pick($types), '\\')) {
            'int' => Dice::pick([0, 1, -7, PHP_INT_MAX]),
            'float' => $this->float(),
            'string' => $this->string(),
            'bool' => Dice::one(2),
            'array', 'iterable' => [$this->array($array, $depth + 1), $array][1],
            'null' => null,
            'mixed' => $this->inner($depth),
            'self' => $object,
            'stdClass' => $this->keep((object) ['n' => Dice::below(9)]),
            'Suit' => Dice::pick(Suit::cases()),
            'Level' => Dice::pick(Level::cases()),
            'ArrayObject' => $this->keep(new ArrayObject(['x' => 1])),
            'DateTimeInterface', 'DateTimeImmutable' => $this->keep(new DateTimeImmutable('2021-03-04 05:06:07')),
            default => $this->objects ? Dice::pick($this->objects) : $this->keep(new stdClass),
        };
    }

    private function dynamic(mixed &$slot, int $depth): void
    {
        $object = $slot = $this->keep(new stdClass);
        for ($n = Dice::below(5); $n > 0; $n--) {
            $name = (string) $this->key();
            if ($name !== '' && $name[0] === "\0") {
                continue;
            }
            if ($this->variables && Dice::one(8)) {
                $object->$name = &$this->variables[array_rand($this->variables)];
            } elseif (Dice::one(8)) {
                $object->$name = null;
                $this->variables[] = &$object->$name;
                $this->putWhereItFits($object->$name, $depth + 1);
            } else {
                $object->$name = $this->inner($depth);
            }
        }
    }

    private function spl(mixed &$slot, int $depth): void
    {
        $class = Dice::pick(['ArrayObject', 'ArrayObject', 'ArrayIterator', 'ExtendedObject', 'SplObjectStorage', 'ExtendedStorage', 'SplDoublyLinkedList', 'ExtendedList', 'SplQueue', 'SplStack', 'SplFixedArray', 'ExtendedFixed', 'SplMinHeap', 'SplMaxHeap', 'ExtendedHeap', 'SplPriorityQueue', 'ExtendedException', 'RecursiveArrayIterator', 'SplTempFileObject', 'MultipleIterator']);
        $object = $slot = $this->keep(match ($class) {
            'ArrayObject', 'ExtendedObject' => new $class(Dice::one(4) ? (object) ['a' => $this->inner($depth)] : ['a' => $this->inner($depth), 5 => 1], Dice::below(4)),
            'ArrayIterator', 'RecursiveArrayIterator' => new $class([1, 'k' => $this->inner($depth)], Dice::below(4)),
            'SplFixedArray', 'ExtendedFixed' => new $class(Dice::below(4)),
            'ExtendedException' => new $class('text', 5, Dice::one(2) ? null : new LogicException('inner')),
            default => new $class,
        });
        for ($n = Dice::below(4); $n > 0; $n--) {
            match (true) {
                $object instanceof SplObjectStorage, $object instanceof MultipleIterator => $object instanceof MultipleIterator ? $object->attachIterator(new ArrayIterator([1]), $n) : $object->attach($this->objects[array_rand($this->objects)], $this->inner($depth)),
                $object instanceof SplDoublyLinkedList => $object->push($this->inner($depth)),
                $object instanceof SplFixedArray => $n <= $object->getSize() ? $object[$n - 1] = $this->inner($depth) : null,
                $object instanceof SplPriorityQueue => $object->insert($n, $n * 7 % 3),
                $object instanceof SplHeap => $object->insert($n * 7 % 5),
                default => null,
            };
        }
        if ($object instanceof SplDoublyLinkedList && $object::class === 'SplDoublyLinkedList' && Dice::one(2)) {
            $object->setIteratorMode(Dice::below(4));
        }
        if (isset($object->extra) && Dice::one(2)) {
            $object->extra = $this->inner($depth);
        }
    }

    private function date(): object
    {
        $zone = Dice::pick(['UTC', 'Europe/Berlin', '+02:00', '-05:30', 'EST', 'CEST', 'America/New_York']);
        $when = Dice::pick(['2020-02-29 12:34:56.789012', '1970-01-01', '2038-01-19 03:14:08', '-0044-03-15', '2021-10-31 02:30:00', '9999-12-31 23:59:59']);
        return match (Dice::below(7)) {
            0, 1 => new DateTime($when, new DateTimeZone($zone)),
            2 => new DateTimeImmutable($when, new DateTimeZone($zone)),
            3 => new ExtendedDate($when, new DateTimeZone($zone)),
            4 => new DateTimeZone($zone),
            5 => Dice::one(2) ? new DateInterval(Dice::pick(['P1Y2M3DT4H5M6S', 'PT0S', 'P10D'])) : (Dice::one(2) ? (new DateTime('2020-01-01'))->diff(new DateTime($when)) : DateInterval::createFromDateString(Dice::pick(['1 day', 'last day of next month', '3 weekdays ago']))),
            6 => new DatePeriod(new DateTimeImmutable($when, new DateTimeZone($zone)), new DateInterval('P1D'), Dice::one(2) ? 3 : new DateTimeImmutable('2040-01-01'), Dice::below(2)),
        };
    }

    private function random(): object
    {
        if (PHP_VERSION_ID < 80200) {
            return new stdClass;
        }
        $engine = Dice::pick(['Random\Engine\Mt19937', 'Random\Engine\PcgOneseq128XslRr64', 'Random\Engine\Xoshiro256StarStar', 'Random\Engine\Secure']);
        $engine = $engine === 'Random\Engine\Secure' ? new $engine : new $engine(Dice::below(100));
        return Dice::one(2) ? $engine : new Random\Randomizer($engine);
    }

    private function incomplete(mixed &$slot): void
    {
        $slot = $this->keep(\unserialize('O:' . Dice::pick(['7:"Missing"', '14:"Also\\Not\\There"', '1:"X"']) . ':' . Dice::pick(['0:{}', '1:{s:1:"p";i:1;}', "2:{s:4:\"\0*\0p\";i:1;s:4:\"\0X\0q\";a:1:{i:0;N;}}"]), ['allowed_classes' => false]));
    }

    // Values that can't be frozen, or are frozen as something else.
    private function other(mixed &$slot): void
    {
        $slot = $this->isSafe ? new stdClass : match (Dice::below(8)) {
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
