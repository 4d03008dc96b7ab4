<?php
// Tests Icecore\replace(): arguments, options, the report, errors, damaged data, memory leaks.
//
//   php -d extension=icecore.so replace.php

declare(strict_types=1);

require __DIR__ . '/registration/lib.php';
require __DIR__ . '/lib/Chance/Rng.php';

const DATA = 'a:2:{s:3:"old";s:7:"an old ";i:0;O:8:"stdClass":0:{}}';

/** Counts a test of a call that must throw this class with these words in its message. */
function check_throws(string $name, string $class, string $words, callable $call): void
{
    $thrown = thrown($call);
    check($name, $thrown !== null && $thrown::class === $class && str_contains($thrown->getMessage(), $words),
        expected: "$class: $words",
        found: $thrown === null ? 'no exception' : $thrown::class . ': ' . $thrown->getMessage());
}

// -- Arguments ----------------------------------------------------------------------

$brand = 'a:2:{s:3:"old";s:13:"an brand new ";i:0;O:8:"stdClass":0:{}}';
same('one pair of texts is replaced', $brand, Icecore\replace('old', 'brand new', DATA));
same('a map of pairs is replaced', $brand, Icecore\replace(['old' => 'brand new'], null, DATA));
same('two lists of texts are replaced', $brand, Icecore\replace(['old', 'none'], ['brand new', 'some'], DATA));
same('all texts of a list become one text', 'x x', Icecore\replace(['old', 'new'], 'x', 'old new'));
same('texts without a new one are removed', 'x ', Icecore\replace(['old', 'new'], ['x'], 'old new'));
same('keys of the lists are ignored', 'x y',
    Icecore\replace([5 => 'old', 9 => 'new'], ['a' => 'x', 'b' => 'y'], 'old new'));
same('an empty list removes all texts', ' ', Icecore\replace(['old', 'new'], [], 'old new'));
same('integers are converted to texts', '2027 8', Icecore\replace(['2026' => 2027, '7' => '8'], null, '2026 7'));
same('an inserted text is not replaced again', 'dog cat',
    Icecore\replace(['cat' => 'dog', 'dog' => 'cat'], null, 'cat dog'));
same('the longest match wins, as in strtr', strtr('aaaab', ['a' => 'b', 'aaa' => 'a', 'b' => 'c']),
    Icecore\replace(['a' => 'b', 'aaa' => 'a', 'b' => 'c'], null, 'aaaab'));
$new = 'x';
$map = ['old' => &$new];
same('references in the map are followed', 'x', Icecore\replace($map, null, 'old'));
same('texts may have any bytes', "\xff\0x", Icecore\replace("\0old", "\0x", "\xff\0old"));
same('empty data stays empty', '', Icecore\replace('a', 'b', ''));
$text = str_repeat('text', 10);
same('data without a match is returned unchanged', $text, Icecore\replace('none', 'some', $text));

check_throws('a list with null as the new text is refused', 'TypeError',
    'must not be null when argument #1 ($old) is a list', fn () => Icecore\replace(['a', 'b'], null, 'x'));
check_throws('a text with null as the new text is refused', 'TypeError',
    'must be of type string when argument #1 ($old) is a string, null given',
    fn () => Icecore\replace('a', null, 'x'));
check_throws('a text with a list as the new text is refused', 'TypeError',
    'must be of type string when argument #1 ($old) is a string, array given',
    fn () => Icecore\replace('a', ['b'], 'x'));
check_throws('an array in the map is refused', 'TypeError',
    'Argument #1 ($old) must contain only strings, array given', fn () => Icecore\replace(['a' => ['b']], null, 'x'));
check_throws('null in a list is refused', 'TypeError', 'Argument #2 ($new) must contain only strings, null given',
    fn () => Icecore\replace(['a'], [null], 'x'));
check_throws('a float in a list is refused', 'TypeError', 'Argument #1 ($old) must contain only strings, float given',
    fn () => Icecore\replace([1.5], ['x'], 'x'));
check_throws('an array as the data is refused', 'TypeError', 'Argument #3 ($data) must be of type string',
    fn () => Icecore\replace('a', 'b', ['a']));
check_throws('an empty old text is refused', 'Icecore\Exception', 'an empty OLD is found everywhere',
    fn () => Icecore\replace('', 'b', 'x'));
check_throws('an empty old text in a list is refused', 'Icecore\Exception', 'an empty OLD is found everywhere',
    fn () => Icecore\replace(['a', ''], 'b', 'x'));
check_throws('an empty map is refused', 'Icecore\Exception', 'nothing to replace',
    fn () => Icecore\replace([], null, 'x'));
check_throws('an old text that occurs twice is refused', 'Icecore\Exception', 'give it once',
    fn () => Icecore\replace(['a', 'a'], ['b', 'c'], 'x'));
$exception = thrown(fn () => Icecore\replace('', 'b', 'x'));
same('the exception about pairs has the kind usage', ['usage', null, ''],
    [$exception->kind, $exception->offset, $exception->path]);

final class Text
{
    public function __toString(): string
    {
        return Icecore\replace('y', 'old', 'y');
    }
}
check_throws('an object in a list is refused, and its __toString is not called', 'TypeError',
    'Argument #1 ($old) must contain only strings, Text given', fn () => Icecore\replace([new Text()], 'b', 'x'));

// -- Options ------------------------------------------------------------------------

same('the option keys replaces in keys', 'a:2:{s:3:"new";s:7:"an new ";i:0;O:8:"stdClass":0:{}}',
    Icecore\replace('old', 'new', DATA, ['keys' => true]));
same('keys: false leaves keys unchanged', 'a:2:{s:3:"old";s:7:"an new ";i:0;O:8:"stdClass":0:{}}',
    Icecore\replace('old', 'new', DATA, ['keys' => false]));
same('the option classes replaces whole class names', 'a:1:{i:0;O:12:"App\Employee":1:{s:1:"a";s:3:"std";}}',
    Icecore\replace(['stdClass' => 'App\Employee', 'App\Old' => 'x'], null,
    'a:1:{i:0;O:8:"stdClass":1:{s:1:"a";s:3:"std";}}', ['classes' => true]));
same('the option regex replaces matches of an expression', 'joe@new.example',
    Icecore\replace('(\w+)@old\.example', '$1@new.example', 'joe@old.example', ['regex' => true]));
same('the option ignore_case ignores case', 'x x', Icecore\replace('old', 'x', 'Old OLD', ['ignore_case' => true]));
same('the option url replaces all spellings of an address',
    'http:\/\/new.example\/a //new.example https%3A%2F%2Fnew.example //old.example.org',
    Icecore\replace('https://old.example', 'https://new.example',
    'http:\/\/old.example\/a //old.example https%3A%2F%2Fold.example //old.example.org', ['url' => true]));
$base64 = base64_encode(serialize(['old' => 'old']));
same('Base64 is not decoded by default', $base64, Icecore\replace('old', 'new', $base64));
same('the option base64 replaces inside of Base64', base64_encode(serialize(['old' => 'brand new'])),
    Icecore\replace('old', 'brand new', $base64, ['base64' => true]));
same('the option mend repairs a wrong length', 'a:1:{i:0;s:9:"brand new";}',
    Icecore\replace('old', 'brand new', 'a:1:{i:0;s:99:"old";}', ['mend' => true]));
same('the option format names the format', '{"a":"new"}',
    Icecore\replace('old', 'new', '{"a":"old"}', ['format' => 'json']));
same('format: null detects the format', '{"a":"new"}',
    Icecore\replace('old', 'new', '{"a":"old"}', ['format' => null]));
check_throws('data in another format than the named one is refused', 'Icecore\DecodeException', 'found `{`',
    fn () => Icecore\replace('old', 'new', '{"a":"old"}', ['format' => 'php']));
check_throws('an unknown format is refused', 'Icecore\Exception', 'phb',
    fn () => Icecore\replace('old', 'new', 'x', ['format' => 'phb']));
check_throws('a format that is not a string is refused', 'TypeError',
    'Option "format" must be of type ?string, int given', fn () => Icecore\replace('a', 'b', 'x', ['format' => 7]));
check_throws('an unknown option is refused', 'ValueError', 'There is no option "ignorecase"; there are keys, classes',
    fn () => Icecore\replace('a', 'b', 'x', ['ignorecase' => true]));
check_throws('an option without a name is refused', 'ValueError', 'There is no option',
    fn () => Icecore\replace('a', 'b', 'x', [true]));
check_throws('an integer for a bool option is refused', 'TypeError', 'Option "keys" must be of type bool, int given',
    fn () => Icecore\replace('a', 'b', 'x', ['keys' => 1]));
check_throws('an invalid expression is refused', 'Icecore\Exception', '`(`',
    fn () => Icecore\replace('(', 'b', 'x', ['regex' => true]));
check_throws('an invalid address is refused', 'Icecore\Exception', 'https://',
    fn () => Icecore\replace('a', 'b', 'x', ['url' => true]));
$nested = str_repeat('a:1:{i:0;', 20) . 's:3:"old";' . str_repeat('}', 20);
check_throws('data deeper than max_depth is refused', 'Icecore\DecodeException', 'max_depth',
    fn () => Icecore\replace('old', 'new', $nested, ['format' => 'php', 'max_depth' => 10]));
same('max_depth does not affect the next call', str_replace('old', 'new', $nested),
    Icecore\replace('old', 'new', $nested, ['format' => 'php']));
$deeply_nested = str_repeat('a:1:{i:0;', 20_000) . 's:3:"old";' . str_repeat('}', 20_000);
same('max_depth: 0 means no limit', str_replace('old', 'new', $deeply_nested),
    Icecore\replace('old', 'new', $deeply_nested, ['format' => 'php', 'max_depth' => 0]));
check_throws('a negative max_depth is refused', 'ValueError', 'greater than or equal to 0',
    fn () => Icecore\replace('a', 'b', 'x', ['max_depth' => -1]));

// -- The report -----------------------------------------------------------------------

Icecore\replace('old', 'new', serialize(['old old', serialize(['old'])]), report: $report);
same('the report counts strings, occurrences and inner documents', [2, 3, 2, 0],
    [$report['strings'], $report['occurrences'], $report['frozen'], $report['broken']]);
same('first_broken is null without a broken string', null, $report['first_broken']);
Icecore\replace('old', 'new', 'a:1:{i:0;s:99:"old";}', [], $report);
check('a broken string is counted, with its position', $report['broken'] === 1
    && str_starts_with($report['first_broken'], 'php at offset '), report: $report);
Icecore\replace('old', 'new', 'a:2:{i:0;s:5:"Grüße";i:1;s:3:"old";}', ['mend' => true], $report);
same('the report counts repairs and their explanations', [1, 0, ['latin1' => 1]],
    [$report['mended'], $report['guessed'], $report['explanations']]);
Icecore\replace('old', 'new', 'a:1:{i:0;C:3:"Foo":3:{old}}', [], $report);
same('a C: payload is counted as opaque', [0, 1], [$report['strings'], $report['opaque']]);
Icecore\replace('none', 'new', 'text', [], $report);
same('without a match all counts are 0', [0, 0, 0], [$report['strings'], $report['occurrences'], $report['broken']]);
$data = 'old';
same('the variable of the data may receive the report', 'new', Icecore\replace('old', 'new', $data, [], $data));
same('the variable of the data has the report afterwards', 1, $data['strings']);
final class Typed
{
    public ?string $report = null;
}
$typed = new Typed();
check_throws('a report property of another type is refused', 'TypeError', 'Typed::$report',
    fn () => Icecore\replace('old', 'new', 'old', [], $typed->report));
$before = ['kept'];
check_throws('wrong pairs throw before the report is written', 'Icecore\Exception', 'OLD',
    function () use (&$before) { Icecore\replace('', 'x', 'y', [], $before); });
same('an exception leaves the report unchanged', ['kept'], $before);

// -- State that is kept from call to call ---------------------------------------------------------------------

foreach ([['a', 'b', []], ['a', 'c', []], ['a', 'b', ['ignore_case' => true]], ['a', 'b', []],
    ['a', 'b', ['format' => 'json']]] as $i => [$old, $new, $options]) {
    $expected = '["' . $new . (isset($options['ignore_case']) ? $new : 'A') . '"]';
    same("call $i uses its own pairs and options", $expected, Icecore\replace($old, $new, '["aA"]', $options));
}

// -- Damaged data -----------------------------------------------------------------------

$samples = [serialize(['old' => ['an old', 1.5, new ArrayObject(['old'])]]),
    Icecore\igbinary_serialize(['old' => ['old', 'old']]),
    json_encode(['old' => ['old', '["old"]', serialize(['old'])]]),
    Icecore\encode(['old', ['k' => 'old']], 'storable'),
    Icecore\encode(['old', ['k' => 'old']], 'sereal'), Icecore\encode(['old', ['k' => 'old']], 'marshal'),
    var_export(['old' => ['old']], true), 'a|' . serialize(['old']), gzencode(serialize(['old'])),
    addslashes(serialize(["old'"]))];
Rng::seed(1, 1);
$correct = 0;
foreach ($samples as $sample) {
    for ($i = 0; $i < 400; $i++) {
        $data = substr($sample, 0, Rng::oneIn(2) ? Rng::below(strlen($sample)) : strlen($sample));
        for ($j = Rng::below(4); $j > 0 && $data !== ''; $j--) {
            $data[Rng::below(strlen($data))] = Rng::pick(["\0", '"', '9', '{', '}', ';', chr(Rng::below(256))]);
        }
        $options = ['keys' => Rng::oneIn(2), 'classes' => Rng::oneIn(2), 'mend' => Rng::oneIn(2),
            'base64' => Rng::oneIn(2)];
        $result = Icecore\replace(['old' => 'brand new', 'an' => ''], null, $data, $options, $report);
        $correct += is_string($result) && ($result !== $data || $report['strings'] === 0);
    }
}
same('damaged data gives a string and a consistent report', 400 * count($samples), $correct);
foreach (['a:99999999999:{', 'a:1:{i:0;' . str_repeat('a:1:{i:0;', 50_000), str_repeat('[', 100_000),
    's:99999999999999999999:"old";', 'O:3:"old":99999999:{'] as $data) {
    $result = Icecore\replace('old', 'new', $data);
    same('malformed data is replaced as text: ' . substr($data, 0, 20), str_replace('old', 'new', $data), $result);
}

// -- Memory -----------------------------------------------------------------------------

/** Returns the resident memory of the process, in pages. */
function resident_pages(): int
{
    return (int) explode(' ', file_get_contents('/proc/self/statm'))[1];
}
$calls = [
    'data that changes' => fn () => Icecore\replace('old', 'brand new', DATA, [], $report),
    'data that does not change' => fn () => Icecore\replace('none', 'some', DATA),
    'other pairs each time' => fn () =>
        Icecore\replace(['old' => 'x' . ($GLOBALS['n'] = ($GLOBALS['n'] ?? 0) + 1), 'n' => 'm'], null, DATA),
    'lists of texts' => fn () => Icecore\replace(['old', 'an', 7], ['x', 'y', 8], DATA),
    'a refused argument' => fn () =>
        thrown(fn () => Icecore\replace(['a' . $GLOBALS['n'] => 'b', 'x' => []], null, DATA)),
    'wrong pairs' => fn () => thrown(fn () => Icecore\replace(['a' . $GLOBALS['n'], ''], 'b', DATA)),
    'malformed data' => fn () => thrown(fn () => Icecore\replace('a', 'b', 'a:1:{', ['format' => 'php'])),
    'a broken string' => fn () => Icecore\replace('old', 'b', 'a:1:{i:0;s:9:"old";}', [], $report),
];
if (is_readable('/proc/self/statm')) {
    foreach ($calls as $name => $call) {
        for ($i = 0; $i < 2000; $i++) {
            $call();
        }
        $before = [resident_pages(), memory_get_usage()];
        for ($i = 0; $i < 20_000; $i++) {
            $call();
        }
        check("repeated calls leak no memory: $name", resident_pages() - $before[0] < 200
            && memory_get_usage() - $before[1] < 1024,
            pages: resident_pages() - $before[0], bytes: memory_get_usage() - $before[1]);
    }
}
finish();
