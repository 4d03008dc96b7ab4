<?php
// The intended differences between Icecore and PHP. Nothing else may differ.

declare(strict_types=1);

final class IntendedDifference
{
    public const REASONS = [
        'no hook on failure' => 'PHP calls hooks of objects before the failure; Icecore calls none, '
            . 'and no destructor if the text is malformed',
        'refused before building' =>
            'PHP builds, warns and throws until it reaches malformed bytes; Icecore checks all bytes first',
        'a repeated key' =>
            'in Icecore, a link to a link refers to the value that replaced its target; PHP does not write such texts',
        'one call of the autoloader' =>
            'PHP calls the autoloader for each object of a missing class; Icecore calls it once for a text',
    ];

    // Returns true if a key is repeated, and the text has links that may refer to other links.
    private static function hasRepeatedKeyAndLinks(string $text): bool
    {
        $tree = preg_match_all('/[rR]:\d+;/', $text) > 1 ? Text::parse($text) : null;
        $hasRepeatedKey = function (array $node) use (&$hasRepeatedKey): bool {
            $keys = array_map(Text::print(...), $node['keys'] ?? []);
            return count($keys) !== count(array_unique($keys))
                || (bool) array_filter($node['items'] ?? [], $hasRepeatedKey);
        };
        return $tree !== null && $hasRepeatedKey($tree);
    }

    // Returns the name of the difference, or null if it is not intended. $bare is the outcome of PHP
    // when it builds no class.
    public static function find(Outcome $ours, Outcome $php, Outcome $bare, string $text): ?string
    {
        if (self::hasRepeatedKeyAndLinks($text)) {
            return 'a repeated key';
        }
        if ($ours->textWithoutRepeats() === $php->textWithoutRepeats()) {
            return 'one call of the autoloader';
        }
        // Icecore may call the destructors that PHP calls, too.
        $known = [...$php->log, ...$php->destructors];
        $isKnown = fn ($event) => str_starts_with($event, 'autoload ')
            || (str_starts_with($event, 'destroy ') && in_array($event, $known, true));
        $events = array_filter([...$ours->log, ...$ours->destructors], fn ($event) => !$isKnown($event));
        if (!$ours->isFailure() || $events) {
            return null;
        }
        // After the failure, a hook of PHP may have issued warnings, too.
        $hooks = preg_grep('/^__(wakeup|unserialize) /', $php->log);
        $hasSameWarnings = $ours->warnings === ($hooks
            ? array_slice($php->warnings, 0, count($ours->warnings)) : $php->warnings);
        if ($php->isFailure() && $hasSameWarnings
            && ($ours->stringResult === false || $ours->result === $php->result)) {
            return 'no hook on failure';
        }
        $inRange = fn (Outcome $of) =>
            array_values(array_diff($of->warnings, ['Warning: Numerical result out of range']));
        if ($ours->result === $php->result && count($ours->warnings) > count($php->warnings)
            && $inRange($ours) === $inRange($php)) {
            return 'refused before building';
        }
        if ($ours->stringResult !== false) {
            return null;
        }
        // PHP throws an exception for a broken payload of one of its own classes, unless it threw another
        // one before.
        $isBroken = str_starts_with($php->result, 'exception UnexpectedValueException(0): Error at offset ');
        if ($isBroken || ($php->isFailure() && preg_match('/C:\d+:"(Array|Spl)/', $text))) {
            return 'refused before building';
        }
        if ($bare->stringResult !== false) {
            return null;
        }
        // PHP warns more often before the same malformed place, or stops earlier, at an enum or a payload.
        $offset = fn (Outcome $of) =>
            preg_match('/Error at offset (\d+)(?!.*Error at)/s', implode("\n", $of->warnings), $found)
            ? (int) $found[1] : null;
        $known = '/Error at offset|Unexpected end of serialized data|Numerical result out of range|Invalid enum name|Insufficient data/';
        $isFurther = $offset($ours) > (int) $offset($bare) && !preg_grep($known, $ours->warnings, PREG_GREP_INVERT);
        $isEnum = (bool) preg_grep('/Undefined constant|is not an enum/', $bare->warnings);
        $isSame = $offset($ours) === $offset($bare)
            && (!array_diff($ours->warnings, $bare->warnings) || $isEnum
            && !preg_grep($known, $ours->warnings, PREG_GREP_INVERT));
        return $offset($ours) !== null && ($isFurther || $isSame) ? 'refused before building' : null;
    }
}
