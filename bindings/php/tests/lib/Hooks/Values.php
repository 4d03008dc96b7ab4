<?php

declare(strict_types=1);

namespace Hooks;

/** Makes random values with objects of all the classes. */
final class Values
{
    /** Unlisted names of classes. Some can't be built, some must not be, and some do not exist. */
    public const PHP_CLASSES = [
        'ArrayObject', 'ArrayIterator', 'SplObjectStorage', 'SplDoublyLinkedList', 'SplQueue', 'SplFixedArray',
        'SplMinHeap', 'SplFileObject',
        'DateTime', 'DateTimeImmutable', 'DateInterval', 'DatePeriod', 'DateTimeZone', 'Closure', 'Generator', 'PDO',
            'PDORow', 'PDOStatement',
        'SimpleXMLElement', 'SoapClient', 'GMP', 'WeakMap', 'WeakReference', 'Error', 'Exception', 'Phar', 'Fiber',
            'finfo', 'XMLReader', 'DOMDocument',
        'ReflectionClass', 'DirectoryIterator', 'MultipleIterator', '__PHP_Incomplete_Class', 'Icecore\Record',
            'Icecore\ClassException', 'stdClass',
        'ULazy', 'Nobody', 'App\Nobody', 'lplain', 'LPLAIN', '\LPlain', 'LNoted', 'Serializable', 'UnitEnum',
            'HashContext', 'FFI', 'InternalIterator',
    ];

    public static function pick(array $from): mixed
    {
        return $from[mt_rand(0, count($from) - 1)];
    }

    /** Returns the name of a class of these tests, more often a listed one. */
    public static function name(): string
    {
        $name = self::pick(Calls::LISTED);
        return mt_rand(0, 3) === 0 ? 'U' . substr($name, 1) : $name;
    }

    public static function make(int $depth): mixed
    {
        $first = mt_rand(0, 3) === 0 ? 'U' : 'L';
        switch (mt_rand(0, $depth > 0 ? 22 : 5)) {
            case 0: return mt_rand(-5, 500);
            case 1: return self::pick(['', 'x', "a\0b", 'LPlain', '{;}"', serialize(new \UPlain),
                serialize(\UEnum::A)]);
            case 2: return self::pick([null, true, false, 1.5, PHP_INT_MAX]);
            case 3: return constant(self::pick(["{$first}Enum::A", "{$first}Enum::B", "{$first}Cards::Hearts"]));
            case 4: return new \stdClass;
            case 5: return [];
            case 6:
            case 7: return "{$first}Plain"::make(self::make($depth - 1), self::make($depth - 1));
            case 8: return self::withProperty("{$first}Arrayed", $depth);
            case 9: return self::withProperty("{$first}Throws", $depth);
            case 10: return self::withProperty("{$first}Nested", $depth);
            case 11: return self::withProperty("{$first}Sleeps", $depth);
            case 12:
                $object = new ("{$first}Frozen");
                $object->in = [self::make($depth - 1), 1];
                return $object;
            case 13: return new ("{$first}Readonly")(self::make($depth - 1), 5);
            case 14:
                $object = new ("{$first}Typed");
                $object->list = [self::make($depth - 1)];
                $object->listed = mt_rand(0, 1) ? \LPlain::make(1, $object) : null;
                $object->other = self::pick([null, new \UPlain, \UEnum::A]);
                $object->same = mt_rand(0, 1) ? $object : null;
                return $object;
            case 15:
                $object = new (self::pick(["{$first}Array", 'ArrayObject', 'ArrayIterator']))([self::make($depth - 1),
                    self::make($depth - 1)]);
                return $object;
            case 16:
                $object = new (self::pick(["{$first}Storage", 'SplObjectStorage']));
                $object[self::withProperty("{$first}Sleeps", $depth)] = self::make($depth - 1);
                return $object;
            case 17:
                $object = new (self::pick(["{$first}Queue", 'SplDoublyLinkedList', 'SplQueue']));
                $object->push(self::make($depth - 1));
                return $object;
            case 18: return self::pick([new ("{$first}Date")('2020-02-02'), new \DateInterval('P1D'),
                new \DateTimeZone('Europe/Berlin'), new \DateTimeImmutable('@0')]);
            case 19: return self::withProperty("{$first}State", $depth);
            case 20:
                $value = self::make($depth - 1);
                return [$value, &$value, 'k' => $value];
            case 21:
                $object = new \stdClass;
                $object->me = $object;
                $object->{'a b'} = self::make($depth - 1);
                return $object;
            default: return [self::make($depth - 1), self::make($depth - 1), 'key' => self::make($depth - 1)];
        }
    }

    private static function withProperty(string $class, int $depth): object
    {
        $object = new $class;
        $object->a = self::make($depth - 1);
        return $object;
    }
}
