<?php
// Icecore\replace(): arguments, options, the report, refusals, leaks.
//
//   php -d extension=icecore.so replace.php

declare(strict_types=1);

require __DIR__ . '/plugs/lib.php';
require __DIR__ . '/lib/Chance/Dice.php';

const DATA = 'a:2:{s:3:"old";s:7:"an old ";i:0;O:8:"stdClass":0:{}}';

function refused(string $name, string $class, string $words, callable $call): void
{
    $thrown = thrown($call);
    check($name, $thrown !== null && $thrown::class === $class && str_contains($thrown->getMessage(), $words),
        wanted: "$class: $words", got: $thrown === null ? 'no exception' : $thrown::class . ': ' . $thrown->getMessage());
}

// -- Arguments ----------------------------------------------------------------------

$brand = 'a:2:{s:3:"old";s:13:"an brand new ";i:0;O:8:"stdClass":0:{}}';
same('a text', $brand, Icecore\replace('old', 'brand new', DATA));
same('a map', $brand, Icecore\replace(['old' => 'brand new'], null, DATA));
same('lists', $brand, Icecore\replace(['old', 'none'], ['brand new', 'some'], DATA));
same('a list and one text', 'x x', Icecore\replace(['old', 'new'], 'x', 'old new'));
same('a list that is too short', 'x ', Icecore\replace(['old', 'new'], ['x'], 'old new'));
same('lists with holes', 'x y', Icecore\replace([5 => 'old', 9 => 'new'], ['a' => 'x', 'b' => 'y'], 'old new'));
same('a list and nothing', ' ', Icecore\replace(['old', 'new'], [], 'old new'));
same('numbers', '2027 8', Icecore\replace(['2026' => 2027, '7' => '8'], null, '2026 7'));
same('all at once', 'dog cat', Icecore\replace(['cat' => 'dog', 'dog' => 'cat'], null, 'cat dog'));
same('as strtr', strtr('aaaab', ['a' => 'b', 'aaa' => 'a', 'b' => 'c']), Icecore\replace(['a' => 'b', 'aaa' => 'a', 'b' => 'c'], null, 'aaaab'));
$one = 'x';
$map = ['old' => &$one];
same('references', 'x', Icecore\replace($map, null, 'old'));
same('bytes', "\xff\0x", Icecore\replace("\0old", "\0x", "\xff\0old"));
same('nothing to replace in', '', Icecore\replace('a', 'b', ''));
$text = str_repeat('text', 10);
same('the same string', $text, Icecore\replace('none', 'some', $text));

refused('a list and null', 'TypeError', 'must not be null when argument #1 ($old) is a list', fn () => Icecore\replace(['a', 'b'], null, 'x'));
refused('a text and null', 'TypeError', 'must be of type string when argument #1 ($old) is a string, null given', fn () => Icecore\replace('a', null, 'x'));
refused('a text and a list', 'TypeError', 'must be of type string when argument #1 ($old) is a string, array given', fn () => Icecore\replace('a', ['b'], 'x'));
refused('an array in the map', 'TypeError', 'Argument #1 ($old) must contain only strings, array given', fn () => Icecore\replace(['a' => ['b']], null, 'x'));
refused('null in a list', 'TypeError', 'Argument #2 ($new) must contain only strings, null given', fn () => Icecore\replace(['a'], [null], 'x'));
refused('a float in a list', 'TypeError', 'Argument #1 ($old) must contain only strings, float given', fn () => Icecore\replace([1.5], ['x'], 'x'));
refused('no string', 'TypeError', 'Argument #3 ($data) must be of type string', fn () => Icecore\replace('a', 'b', ['a']));
refused('an empty text', 'Icecore\Exception', 'an empty OLD is found everywhere', fn () => Icecore\replace('', 'b', 'x'));
refused('an empty text in a list', 'Icecore\Exception', 'an empty OLD is found everywhere', fn () => Icecore\replace(['a', ''], 'b', 'x'));
refused('no pairs', 'Icecore\Exception', 'nothing to replace', fn () => Icecore\replace([], null, 'x'));
refused('one text twice', 'Icecore\Exception', 'give it once', fn () => Icecore\replace(['a', 'a'], ['b', 'c'], 'x'));
$exception = thrown(fn () => Icecore\replace('', 'b', 'x'));
same('its kind', ['usage', null, ''], [$exception->kind, $exception->offset, $exception->path]);

final class Text
{
    public function __toString(): string
    {
        return Icecore\replace('y', 'old', 'y');
    }
}
refused('an object in a list', 'TypeError', 'Argument #1 ($old) must contain only strings, Text given', fn () => Icecore\replace([new Text()], 'b', 'x'));

// -- Options ------------------------------------------------------------------------

same('keys', 'a:2:{s:3:"new";s:7:"an new ";i:0;O:8:"stdClass":0:{}}', Icecore\replace('old', 'new', DATA, ['keys' => true]));
same('keys: false', 'a:2:{s:3:"old";s:7:"an new ";i:0;O:8:"stdClass":0:{}}', Icecore\replace('old', 'new', DATA, ['keys' => false]));
same('classes', 'a:1:{i:0;O:12:"App\Employee":1:{s:1:"a";s:3:"std";}}', Icecore\replace(['stdClass' => 'App\Employee', 'App\Old' => 'x'], null, 'a:1:{i:0;O:8:"stdClass":1:{s:1:"a";s:3:"std";}}', ['classes' => true]));
same('regex', 'joe@new.example', Icecore\replace('(\w+)@old\.example', '$1@new.example', 'joe@old.example', ['regex' => true]));
same('ignore_case', 'x x', Icecore\replace('old', 'x', 'Old OLD', ['ignore_case' => true]));
same('url', 'http:\/\/new.example\/a //new.example https%3A%2F%2Fnew.example //old.example.org', Icecore\replace('https://old.example', 'https://new.example', 'http:\/\/old.example\/a //old.example https%3A%2F%2Fold.example //old.example.org', ['url' => true]));
$base64 = base64_encode(serialize(['old' => 'old']));
same('no base64', $base64, Icecore\replace('old', 'new', $base64));
same('base64', base64_encode(serialize(['old' => 'brand new'])), Icecore\replace('old', 'brand new', $base64, ['base64' => true]));
same('mend', 'a:1:{i:0;s:9:"brand new";}', Icecore\replace('old', 'brand new', 'a:1:{i:0;s:99:"old";}', ['mend' => true]));
same('format', '{"a":"new"}', Icecore\replace('old', 'new', '{"a":"old"}', ['format' => 'json']));
same('format: null', '{"a":"new"}', Icecore\replace('old', 'new', '{"a":"old"}', ['format' => null]));
refused('another format', 'Icecore\DecodeException', 'found `{`', fn () => Icecore\replace('old', 'new', '{"a":"old"}', ['format' => 'php']));
refused('a format that is none', 'Icecore\Exception', 'phb', fn () => Icecore\replace('old', 'new', 'x', ['format' => 'phb']));
refused('a format that is no text', 'TypeError', 'Option "format" must be of type ?string, int given', fn () => Icecore\replace('a', 'b', 'x', ['format' => 7]));
refused('an option that is none', 'ValueError', 'There is no option "ignorecase"; there are keys, classes', fn () => Icecore\replace('a', 'b', 'x', ['ignorecase' => true]));
refused('an option without a name', 'ValueError', 'There is no option', fn () => Icecore\replace('a', 'b', 'x', [true]));
refused('an option that is no bool', 'TypeError', 'Option "keys" must be of type bool, int given', fn () => Icecore\replace('a', 'b', 'x', ['keys' => 1]));
refused('no expression', 'Icecore\Exception', '`(`', fn () => Icecore\replace('(', 'b', 'x', ['regex' => true]));
refused('no address', 'Icecore\Exception', 'https://', fn () => Icecore\replace('a', 'b', 'x', ['url' => true]));
$deep = str_repeat('a:1:{i:0;', 20) . 's:3:"old";' . str_repeat('}', 20);
refused('max_depth', 'Icecore\DecodeException', 'max_depth', fn () => Icecore\replace('old', 'new', $deep, ['format' => 'php', 'max_depth' => 10]));
same('and the usual one again', str_replace('old', 'new', $deep), Icecore\replace('old', 'new', $deep, ['format' => 'php']));
$deeper = str_repeat('a:1:{i:0;', 20_000) . 's:3:"old";' . str_repeat('}', 20_000);
same('max_depth: 0', str_replace('old', 'new', $deeper), Icecore\replace('old', 'new', $deeper, ['format' => 'php', 'max_depth' => 0]));
refused('max_depth that is below 0', 'ValueError', 'greater than or equal to 0', fn () => Icecore\replace('a', 'b', 'x', ['max_depth' => -1]));

// -- The report -----------------------------------------------------------------------

Icecore\replace('old', 'new', serialize(['old old', serialize(['old'])]), report: $report);
same('counts', [2, 3, 2, 0], [$report['strings'], $report['occurrences'], $report['frozen'], $report['broken']]);
same('no broken text', null, $report['first_broken']);
Icecore\replace('old', 'new', 'a:1:{i:0;s:99:"old";}', [], $report);
check('a broken text', $report['broken'] === 1 && str_starts_with($report['first_broken'], 'php at offset '), said: $report);
Icecore\replace('old', 'new', 'a:2:{i:0;s:5:"Grüße";i:1;s:3:"old";}', ['mend' => true], $report);
same('what was repaired', [1, 0, ['latin1' => 1]], [$report['mended'], $report['guessed'], $report['explanations']]);
Icecore\replace('old', 'new', 'a:1:{i:0;C:3:"Foo":3:{old}}', [], $report);
same('bytes of a class', [0, 1], [$report['strings'], $report['opaque']]);
Icecore\replace('none', 'new', 'text', [], $report);
same('nothing', [0, 0, 0], [$report['strings'], $report['occurrences'], $report['broken']]);
$data = 'old';
same('a report in the place of the data', 'new', Icecore\replace('old', 'new', $data, [], $data));
same('is there', 1, $data['strings']);
final class Typed
{
    public ?string $report = null;
}
$typed = new Typed();
refused('a report that has another type', 'TypeError', 'Typed::$report', fn () => Icecore\replace('old', 'new', 'old', [], $typed->report));
$before = ['kept'];
refused('what is refused leaves the report', 'Icecore\Exception', 'OLD', function () use (&$before) { Icecore\replace('', 'x', 'y', [], $before); });
same('as it was', ['kept'], $before);

// -- What is kept ---------------------------------------------------------------------

foreach ([['a', 'b', []], ['a', 'c', []], ['a', 'b', ['ignore_case' => true]], ['a', 'b', []], ['a', 'b', ['format' => 'json']]] as $i => [$old, $new, $options]) {
    $wanted = ($options['format'] ?? null) ? '["' . $new . 'A"]' : '["' . $new . (isset($options['ignore_case']) ? $new : 'A') . '"]';
    same("pairs of call $i", $wanted, Icecore\replace($old, $new, '["aA"]', $options));
}

// -- Hostile data -----------------------------------------------------------------------

$samples = [serialize(['old' => ['an old', 1.5, new ArrayObject(['old'])]]), Icecore\igbinary_serialize(['old' => ['old', 'old']]),
    json_encode(['old' => ['old', '["old"]', serialize(['old'])]]), Icecore\encode(['old', ['k' => 'old']], 'storable'),
    Icecore\encode(['old', ['k' => 'old']], 'sereal'), Icecore\encode(['old', ['k' => 'old']], 'marshal'),
    var_export(['old' => ['old']], true), 'a|' . serialize(['old']), gzencode(serialize(['old'])), addslashes(serialize(["old'"]))];
Dice::seed(1, 1);
$tried = 0;
foreach ($samples as $sample) {
    for ($i = 0; $i < 400; $i++) {
        $data = substr($sample, 0, Dice::one(2) ? Dice::below(strlen($sample)) : strlen($sample));
        for ($j = Dice::below(4); $j > 0 && $data !== ''; $j--) {
            $data[Dice::below(strlen($data))] = Dice::pick(["\0", '"', '9', '{', '}', ';', chr(Dice::below(256))]);
        }
        $options = ['keys' => Dice::one(2), 'classes' => Dice::one(2), 'mend' => Dice::one(2), 'base64' => Dice::one(2)];
        $got = Icecore\replace(['old' => 'brand new', 'an' => ''], null, $data, $options, $report);
        $tried += is_string($got) && ($got !== $data || $report['strings'] === 0);
    }
}
same('damaged data is text', 400 * count($samples), $tried);
foreach (['a:99999999999:{', 'a:1:{i:0;' . str_repeat('a:1:{i:0;', 50_000), str_repeat('[', 100_000), 's:99999999999999999999:"old";', 'O:3:"old":99999999:{'] as $data) {
    $got = Icecore\replace('old', 'new', $data);
    same('as text: ' . substr($data, 0, 20), str_replace('old', 'new', $data), $got);
}

// -- Memory -----------------------------------------------------------------------------

function resident(): int
{
    return (int) explode(' ', file_get_contents('/proc/self/statm'))[1];
}
$ways = [
    'changed' => fn () => Icecore\replace('old', 'brand new', DATA, [], $said),
    'not changed' => fn () => Icecore\replace('none', 'some', DATA),
    'other pairs each time' => fn () => Icecore\replace(['old' => 'x' . ($GLOBALS['n'] = ($GLOBALS['n'] ?? 0) + 1), 'n' => 'm'], null, DATA),
    'lists' => fn () => Icecore\replace(['old', 'an', 7], ['x', 'y', 8], DATA),
    'refused' => fn () => thrown(fn () => Icecore\replace(['a' . $GLOBALS['n'] => 'b', 'x' => []], null, DATA)),
    'wrong pairs' => fn () => thrown(fn () => Icecore\replace(['a' . $GLOBALS['n'], ''], 'b', DATA)),
    'wrong data' => fn () => thrown(fn () => Icecore\replace('a', 'b', 'a:1:{', ['format' => 'php'])),
    'broken data' => fn () => Icecore\replace('old', 'b', 'a:1:{i:0;s:9:"old";}', [], $said),
];
if (is_readable('/proc/self/statm')) {
    foreach ($ways as $name => $way) {
        for ($i = 0; $i < 2000; $i++) {
            $way();
        }
        $before = [resident(), memory_get_usage()];
        for ($i = 0; $i < 20_000; $i++) {
            $way();
        }
        check("no leak: $name", resident() - $before[0] < 200 && memory_get_usage() - $before[1] < 1024,
            pages: resident() - $before[0], bytes: memory_get_usage() - $before[1]);
    }
}
finish();
