<?php

declare(strict_types=1);

namespace Hooks;

/** Random values of all kinds of classes. */
final class Values
{
    /** Classes of PHP that are in no list: some can't be made, some should not be, and some do not exist. */
    public const HOSTS = [
        'ArrayObject', 'ArrayIterator', 'SplObjectStorage', 'SplDoublyLinkedList', 'SplQueue', 'SplFixedArray', 'SplMinHeap', 'SplFileObject',
        'DateTime', 'DateTimeImmutable', 'DateInterval', 'DatePeriod', 'DateTimeZone', 'Closure', 'Generator', 'PDO', 'PDORow', 'PDOStatement',
        'SimpleXMLElement', 'SoapClient', 'GMP', 'WeakMap', 'WeakReference', 'Error', 'Exception', 'Phar', 'Fiber', 'finfo', 'XMLReader', 'DOMDocument',
        'ReflectionClass', 'DirectoryIterator', 'MultipleIterator', '__PHP_Incomplete_Class', 'Icecore\Record', 'Icecore\ClassException', 'stdClass',
        'ULazy', 'Nobody', 'App\Nobody', 'lplain', 'LPLAIN', '\LPlain', 'LNoted', 'Serializable', 'UnitEnum', 'HashContext', 'FFI', 'InternalIterator',
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

    public static function any(int $depth): mixed
    {
        $first = mt_rand(0, 3) === 0 ? 'U' : 'L';
        switch (mt_rand(0, $depth > 0 ? 22 : 5)) {
            case 0: return mt_rand(-5, 500);
            case 1: return self::pick(['', 'x', "a\0b", 'LPlain', '{;}"', serialize(new \UPlain), serialize(\UEnum::A)]);
            case 2: return self::pick([null, true, false, 1.5, PHP_INT_MAX]);
            case 3: return constant(self::pick(["{$first}Enum::A", "{$first}Enum::B", "{$first}Cards::Hearts"]));
            case 4: return new \stdClass;
            case 5: return [];
            case 6:
            case 7: return "{$first}Plain"::make(self::any($depth - 1), self::any($depth - 1));
            case 8: return self::with("{$first}Arrayed", $depth);
            case 9: return self::with("{$first}Throws", $depth);
            case 10: return self::with("{$first}Nested", $depth);
            case 11: return self::with("{$first}Sleeps", $depth);
            case 12:
                $made = new ("{$first}Frozen");
                $made->in = [self::any($depth - 1), 1];
                return $made;
            case 13: return new ("{$first}Readonly")(self::any($depth - 1), 5);
            case 14:
                $made = new ("{$first}Typed");
                $made->list = [self::any($depth - 1)];
                $made->listed = mt_rand(0, 1) ? \LPlain::make(1, $made) : null;
                $made->other = self::pick([null, new \UPlain, \UEnum::A]);
                $made->same = mt_rand(0, 1) ? $made : null;
                return $made;
            case 15:
                $made = new (self::pick(["{$first}Array", 'ArrayObject', 'ArrayIterator']))([self::any($depth - 1), self::any($depth - 1)]);
                return $made;
            case 16:
                $made = new (self::pick(["{$first}Storage", 'SplObjectStorage']));
                $made[self::with("{$first}Sleeps", $depth)] = self::any($depth - 1);
                return $made;
            case 17:
                $made = new (self::pick(["{$first}Queue", 'SplDoublyLinkedList', 'SplQueue']));
                $made->push(self::any($depth - 1));
                return $made;
            case 18: return self::pick([new ("{$first}Date")('2020-02-02'), new \DateInterval('P1D'), new \DateTimeZone('Europe/Berlin'), new \DateTimeImmutable('@0')]);
            case 19: return self::with("{$first}State", $depth);
            case 20:
                $value = self::any($depth - 1);
                return [$value, &$value, 'k' => $value];
            case 21:
                $made = new \stdClass;
                $made->me = $made;
                $made->{'a b'} = self::any($depth - 1);
                return $made;
            default: return [self::any($depth - 1), self::any($depth - 1), 'key' => self::any($depth - 1)];
        }
    }

    private static function with(string $class, int $depth): object
    {
        $made = new $class;
        $made->a = self::any($depth - 1);
        return $made;
    }
}
