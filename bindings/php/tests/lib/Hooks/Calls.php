<?php

declare(strict_types=1);

namespace Hooks;

/** Records the calls of hooks while bytes are read and while the value is freed. */
final class Calls
{
    /** The listed classes. Each has an unlisted twin, whose name begins with U. */
    public const LISTED = [
        'LPlain', 'LArrayed', 'LThrows', 'LNested', 'LSleeps', 'LFrozen', 'LReadonly', 'LTyped', 'LEnum', 'LCards',
        'LArray', 'LStorage',
        'LQueue', 'LDate', 'LState', 'LLazy',
    ];

    private static array $all = [];
    private static bool $areRecorded = false;
    /** The allowed names in lower case; null if all classes are allowed. */
    private static ?array $allowed = null;
    /** Classes that need no permission: stdClass, and those of records and incomplete objects. */
    private const NEUTRAL = ['stdclass', '__php_incomplete_class', 'icecore\record'];

    public static function start(?array $allowed): void
    {
        self::$all = [];
        self::$allowed = $allowed === null ? null : array_map('strtolower', $allowed);
        self::$areRecorded = true;
    }

    public static function add(string $class, string $hook): void
    {
        if (self::$areRecorded) {
            self::$all[] = "$class::$hook";
        }
    }

    public static function pause(): void
    {
        self::$areRecorded = false;
    }

    public static function resume(): void
    {
        self::$areRecorded = true;
    }

    public static function stop(): array
    {
        self::$areRecorded = false;
        return self::$all;
    }

    public static function reset(): void
    {
        self::$areRecorded = false;
        self::$all = [];
    }

    /** Returns the recorded calls of classes that are not allowed. */
    public static function ofUnlistedClasses(): array
    {
        return array_values(array_filter(self::$all,
            fn ($call) => !self::isAllowed(substr($call, 0, (int) strpos($call, '::')))));
    }

    private static function isAllowed(string $class): bool
    {
        $class = strtolower($class);
        return self::$allowed === null || in_array($class, self::$allowed, true)
            || (in_array('l*', self::$allowed, true) && $class !== '' && $class[0] === 'l');
    }

    public static function mayBeBuilt(string $class): bool
    {
        // From var_export's text, DateTime::__set_state makes a DateTime, also for the child LDate.
        $isDate = $class === 'DateTime' && self::isAllowed('LDate');
        return self::isAllowed($class) || $isDate || in_array(strtolower($class), self::NEUTRAL, true)
            || str_contains($class, '@anonymous');
    }

    public static function autoload(string $class): void
    {
        self::add($class, 'autoload');
        if (strtolower($class) === 'llazy') {
            eval('class LLazy { public $a; public function __wakeup() { Hooks\Calls::add(self::class, __FUNCTION__); } }');
        }
    }
}
