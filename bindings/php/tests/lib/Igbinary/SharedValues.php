<?php
// Makes random values in which arrays, objects and variables are shared: also with places that are not
// part of the value, and with the array that contains them.

declare(strict_types=1);

namespace Igbinary;

final class SharedValues
{
    /** Variables outside of the values. They keep references alive. */
    private static array $outside = [];

    public static function make(): mixed
    {
        self::$outside = [];
        $v = array_fill(0, 5, null);
        foreach (array_keys($v) as $i) {
            $v[$i] = mt_rand(0, 1) ? self::container() : self::scalar();
        }
        for ($steps = mt_rand(2, 14); $steps > 0; $steps--) {
            try {
                self::change($v, mt_rand(0, 4), mt_rand(0, 4));
            } catch (\Throwable) {
                // The types of a property or a readonly class refused the change.
            }
        }
        return match (mt_rand(0, 2)) {
            0 => $v[0],
            1 => $v,
            2 => [$v[1], $v[2], 'last' => &$v[3]],
        };
    }

    private static function change(array &$v, int $i, int $j): void
    {
        $key = self::pick(['a', 'b', 0, 1, 5, -3, '', 'content', 'names']);
        $name = self::pick(['a', 'content', 'other', 'list', 'number', 'names', 'new']);
        switch (mt_rand(0, 13)) {
            case 0:
                $v[$i] = self::scalar();
                break;
            case 1:
            case 2:
                $v[$i] = self::container();
                break;
            case 3:
            case 4:
                if (is_array($v[$i])) {
                    $v[$i][$key] = $v[$j];
                }
                break;
            case 5:
            case 6:
                if (is_array($v[$i])) {
                    $v[$i][$key] = &$v[$j];
                }
                break;
            case 7:
                if (is_object($v[$i])) {
                    $v[$i]->$name = $v[$j];
                }
                break;
            case 8:
                if (is_object($v[$i])) {
                    $v[$i]->$name = &$v[$j];
                }
                break;
            case 9:
                $v[$i] = [$v[$i], $v[$j]];
                break;
            case 10:
                self::$outside[] = &$v[$i];
                break;
            case 11:
                unset($v[$i]);
                $v[$i] = null;
                break;
            case 12:
                if ($v[$i] instanceof Sleeps) {
                    $v[$i]->names = self::pick([['a', 'a'], ['zz'], ['a', 5], [], ['unset'], ['c', 'b', 'names'], null,
                        new \stdClass, 'a', new Plain]);
                }
                break;
            case 13:
                if (is_object($v[$i]) && method_exists($v[$i], 'dropHidden')) {
                    $v[$i]->dropHidden();
                } else {
                    // PHP then has a table of its properties.
                    (array) $v[$i];
                }
                break;
        }
    }

    private static function container(): mixed
    {
        return match (mt_rand(0, 9)) {
            0 => [],
            1 => [self::scalar()],
            2 => ['a' => self::scalar(), 'b' => []],
            3 => new \stdClass,
            4 => new Plain,
            5 => new Typed,
            6 => new Sleeps,
            7 => new Hooks,
            8 => new Wakes,
            9 => new Custom,
        };
    }

    private static function scalar(): mixed
    {
        return self::pick([null, true, false, 0, 1, -1, 256, PHP_INT_MIN, 1.5, '', 'a', 'content', Suit::Hearts,
            Suit::Spades]);
    }

    private static function pick(array $choices): mixed
    {
        return $choices[mt_rand(0, count($choices) - 1)];
    }
}
