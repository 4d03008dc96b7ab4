<?php
// Deliberate differences from PHP. Nothing else may differ.

declare(strict_types=1);

final class Wanted
{
    public const WHY = [
        'no hook on failure' => 'PHP runs the hooks of objects that stand before the place where it fails; Icecore runs none, and no destructor where the text is malformed',
        'refused before building' => 'PHP builds, warns and throws until it comes to bytes that are malformed; Icecore looks at all bytes first',
        'a key comes twice' => 'a link to a link finds what its target was replaced by; PHP writes neither',
        'an autoloader is asked once' => 'PHP asks for a missing class for each object of it; Icecore once for a text',
    ];

    // Whether a key comes twice and there are links that may name other links.
    private static function hasLinksBesideKeyTwice(string $text): bool
    {
        $tree = preg_match_all('/[rR]:\d+;/', $text) > 1 ? Text::parse($text) : null;
        $isTwice = function (array $node) use (&$isTwice): bool {
            $keys = array_map(Text::print(...), $node['keys'] ?? []);
            return count($keys) !== count(array_unique($keys)) || (bool) array_filter($node['items'] ?? [], $isTwice);
        };
        return $tree !== null && $isTwice($tree);
    }

    // The name of the difference, or null where it is none of these. $bare is what PHP
    // says when it builds no class at all.
    public static function unserialize(Outcome $ours, Outcome $php, Outcome $bare, string $text): ?string
    {
        if (self::hasLinksBesideKeyTwice($text)) {
            return 'a key comes twice';
        }
        if ($ours->textWithoutRepeats() === $php->textWithoutRepeats()) {
            return 'an autoloader is asked once';
        }
        // Destructors run where PHP runs them, too.
        $known = [...$php->log, ...$php->dropped];
        $isKnown = fn ($event) => str_starts_with($event, 'autoload ') || (str_starts_with($event, 'destroy ') && in_array($event, $known, true));
        $events = array_filter([...$ours->log, ...$ours->dropped], fn ($event) => !$isKnown($event));
        if (!$ours->isFailure() || $events) {
            return null;
        }
        // A hook may say something, too, when PHP has failed.
        $hooks = preg_grep('/^__(wakeup|unserialize) /', $php->log);
        $isSaid = $ours->warnings === ($hooks ? array_slice($php->warnings, 0, count($ours->warnings)) : $php->warnings);
        if ($php->isFailure() && $isSaid && ($ours->plain === false || $ours->result === $php->result)) {
            return 'no hook on failure';
        }
        $inRange = fn (Outcome $of) => array_values(array_diff($of->warnings, ['Warning: Numerical result out of range']));
        if ($ours->result === $php->result && count($ours->warnings) > count($php->warnings) && $inRange($ours) === $inRange($php)) {
            return 'refused before building';
        }
        if ($ours->plain !== false) {
            return null;
        }
        // A broken payload of one of PHP's own classes makes PHP throw, unless it threw before.
        $isBroken = str_starts_with($php->result, 'exception UnexpectedValueException(0): Error at offset ');
        if ($isBroken || ($php->isFailure() && preg_match('/C:\d+:"(Array|Spl)/', $text))) {
            return 'refused before building';
        }
        if ($bare->plain !== false) {
            return null;
        }
        // PHP says more on its way to the same place, or stops at an enum or a payload of a
        // class; the malformed part comes later.
        $offset = fn (Outcome $of) => preg_match('/Error at offset (\d+)(?!.*Error at)/s', implode("\n", $of->warnings), $found) ? (int) $found[1] : null;
        $known = '/Error at offset|Unexpected end of serialized data|Numerical result out of range|Invalid enum name|Insufficient data/';
        $isFurther = $offset($ours) > (int) $offset($bare) && !preg_grep($known, $ours->warnings, PREG_GREP_INVERT);
        $isEnum = (bool) preg_grep('/Undefined constant|is not an enum/', $bare->warnings);
        $isSame = $offset($ours) === $offset($bare) && (!array_diff($ours->warnings, $bare->warnings) || $isEnum && !preg_grep($known, $ours->warnings, PREG_GREP_INVERT));
        return $offset($ours) !== null && ($isFurther || $isSame) ? 'refused before building' : null;
    }
}
