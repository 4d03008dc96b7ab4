<?php

declare(strict_types=1);

namespace Hooks;

/** The calls while bytes were read, and while the value was freed. */
final class Calls
{
    /** Classes that the lists of these tests name. The others have the same letters after a `U`. */
    public const LISTED = [
        'LPlain', 'LArrayed', 'LThrows', 'LNested', 'LSleeps', 'LFrozen', 'LReadonly', 'LTyped', 'LEnum', 'LCards', 'LArray', 'LStorage',
        'LQueue', 'LDate', 'LState', 'LLazy',
    ];

    private static array $all = [];
    private static bool $are_recorded = false;
    /** Names in lower case, or null: all are allowed. */
    private static ?array $allowed = null;
    /** Names of records and incomplete objects. */
    private const NEUTRAL = ['stdclass', '__php_incomplete_class', 'icecore\record'];

    public static function begin(?array $allowed): void
    {
        self::$all = [];
        self::$allowed = $allowed === null ? null : array_map('strtolower', $allowed);
        self::$are_recorded = true;
    }

    public static function add(string $class, string $hook): void
    {
        if (self::$are_recorded) {
            self::$all[] = "$class::$hook";
        }
    }

    public static function pause(): void
    {
        self::$are_recorded = false;
    }

    public static function resume(): void
    {
        self::$are_recorded = true;
    }

    public static function end(): array
    {
        self::$are_recorded = false;
        return self::$all;
    }

    public static function forget(): void
    {
        self::$are_recorded = false;
        self::$all = [];
    }

    /** Returns the calls of classes that no list names. */
    public static function unlisted(): array
    {
        return array_values(array_filter(self::$all, fn ($call) => !self::isAllowed(substr($call, 0, (int) strpos($call, '::')))));
    }

    private static function isAllowed(string $class): bool
    {
        $class = strtolower($class);
        return self::$allowed === null || in_array($class, self::$allowed, true)
            || (in_array('l*', self::$allowed, true) && $class !== '' && $class[0] === 'l');
    }

    public static function mayBeBuilt(string $class): bool
    {
        // A child of DateTime makes a DateTime from var_export's text, without our code.
        $is_date = $class === 'DateTime' && self::isAllowed('LDate');
        return self::isAllowed($class) || $is_date || in_array(strtolower($class), self::NEUTRAL, true) || str_contains($class, '@anonymous');
    }

    public static function autoload(string $class): void
    {
        self::add($class, 'autoload');
        if (strtolower($class) === 'llazy') {
            eval('class LLazy { public $a; public function __wakeup() { Hooks\Calls::add(self::class, __FUNCTION__); } }');
        }
    }
}
