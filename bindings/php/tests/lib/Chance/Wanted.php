<?php
// Differences from PHP that are wanted. Nothing else may differ.

declare(strict_types=1);

final class Wanted
{
    public const WHY = [
        'no hook on failure' => 'PHP runs hooks and destructors of objects that stand before the place where it fails; Icecore runs none',
        'refused before building' => 'PHP builds, warns and throws until it comes to bytes that are malformed; Icecore looks at all bytes first',
        'an autoloader is asked once' => 'PHP asks for a missing class for each object of it; Icecore once for a text',
    ];

    // The name of the difference, or null where it is none of these. $bare is what PHP
    // says when it builds no class at all.
    public static function unserialize(Outcome $ours, Outcome $php, Outcome $bare): ?string
    {
        if ($ours->textWithoutRepeats() === $php->textWithoutRepeats()) {
            return 'an autoloader is asked once';
        }
        $events = array_filter([...$ours->log, ...$ours->dropped], fn ($event) => !str_starts_with($event, 'autoload '));
        if (!$ours->isFailure() || $events) {
            return null;
        }
        if ($php->isFailure() && $ours->warnings === $php->warnings && ($ours->plain === false || $ours->result === $php->result)) {
            return 'no hook on failure';
        }
        $inRange = fn (Outcome $of) => array_values(array_diff($of->warnings, ['Warning: Numerical result out of range']));
        if ($ours->result === $php->result && count($ours->warnings) > count($php->warnings) && $inRange($ours) === $inRange($php)) {
            return 'refused before building';
        }
        if ($ours->plain !== false) {
            return null;
        }
        // A broken payload of one of PHP's own classes, which makes PHP throw.
        if ($ours->plain === false && str_starts_with($php->result, 'exception UnexpectedValueException(0): Error at offset ')) {
            return 'refused before building';
        }
        if ($bare->plain !== false) {
            return null;
        }
        // PHP says more on its way to the same place, or stops at an enum or a payload of a
        // class; what is malformed is behind it.
        $offset = fn (Outcome $of) => preg_match('/Error at offset (\d+)(?!.*Error at)/s', implode("\n", $of->warnings), $found) ? (int) $found[1] : null;
        $known = '/Error at offset|Unexpected end of serialized data|Numerical result out of range|Invalid enum name|Insufficient data/';
        $isFurther = $offset($ours) > (int) $offset($bare) && !preg_grep($known, $ours->warnings, PREG_GREP_INVERT);
        $isSame = $offset($ours) === $offset($bare) && !array_diff($ours->warnings, $bare->warnings);
        return $offset($ours) !== null && ($isFurther || $isSame) ? 'refused before building' : null;
    }
}
