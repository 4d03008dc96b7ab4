<?php
// Reads payloads of `C:` objects that were changed at random. No unlisted class may be called, loaded
// or built, and for malformed text no class at all. Every call of a class of the data is recorded.
//
//   php -d extension=icecore.so payloads.php [--seed N] [--count N] [--show N]

declare(strict_types=1);

error_reporting(0);
$options = getopt('', ['seed:', 'count:', 'show:']);
$seed = (int) ($options['seed'] ?? 1);
$count = (int) ($options['count'] ?? 200);
$show = (int) ($options['show'] ?? 10);
mt_srand($seed);

/** Records the calls while a text is read and while the value is freed. */
final class Calls
{
    public static array $all = [];
    public static bool $are_recorded = false;
    /** The function by which a class reads its payload. */
    public static string $reader = 'unserialize';

    public static function add(string $call): void
    {
        if (self::$are_recorded) {
            self::$all[] = $call;
        }
    }
}

spl_autoload_register(fn (string $class) => Calls::add("unlisted: autoload of $class"));

enum Suit
{
    case Hearts;
}

class Unlisted
{
    public $a;

    public function __wakeup() { Calls::add('unlisted: wakeup'); }
    public function __destruct() { Calls::add('unlisted: destructor'); }
}

class UnlistedPayload implements Serializable
{
    public $in;

    public function serialize() { return serialize($this->in); }
    public function unserialize($text) { Calls::add('unlisted: unserialize'); }
}

class Listed
{
    public $a;
    public $b;

    public function __wakeup() { Calls::add('wakeup'); }
    public function __destruct() { Calls::add('destructor'); }
}

class ListedPayload implements Serializable
{
    public $in;

    public function serialize() { return serialize($this->in); }

    public function unserialize($text)
    {
        Calls::add('unserialize');
        $this->in = (Calls::$reader)($text);
    }
}

class ListedArray extends ArrayObject
{
}

function random_value(int $depth): mixed
{
    switch (mt_rand(0, $depth > 0 ? 12 : 4)) {
        case 0: return mt_rand(-5, 500);
        case 1: return str_repeat('x', mt_rand(0, 4));
        case 2: return null;
        case 3: return Suit::Hearts;
        case 4: return 1.5;
        case 5:
            $object = new Unlisted;
            $object->a = random_value($depth - 1);
            return $object;
        case 6:
            $object = new Listed;
            $object->a = random_value($depth - 1);
            $object->b = &$object->a;
            return $object;
        case 7:
        case 8:
            $object = new ListedPayload;
            $object->in = [random_value($depth - 1), random_value($depth - 1)];
            return $object;
        case 9:
            $value = random_value($depth - 1);
            return [$value, &$value, $value];
        case 10:
            $object = new UnlistedPayload;
            $object->in = random_value($depth - 1);
            return $object;
        case 11: return new ListedArray([random_value($depth - 1)]);
        default: return [random_value($depth - 1), random_value($depth - 1)];
    }
}

/** Returns the text of a `C:` object. */
function custom_object(string $class, string $payload): string
{
    return 'C:' . strlen($class) . ":\"$class\":" . strlen($payload) . ':{' . $payload . '}';
}

function pick(array $items): mixed
{
    return $items[mt_rand(0, count($items) - 1)];
}

/** Returns a text of PHP with a random change. */
function change_text(string $text): string
{
    $offset = mt_rand(0, strlen($text) - 1);
    switch (mt_rand(0, 6)) {
        case 0:
            $text[$offset] = chr(mt_rand(32, 126));
            return $text;
        case 1: return substr($text, 0, $offset) ?: 'N';
        case 2: return preg_replace_callback('/([OCE]):(\d+):"/', fn ($found) => $found[1] . ':'
            . str_repeat('0', mt_rand(0, 12)) . $found[2] . ':"', $text);
        case 3:
            $value = pick(['R:' . mt_rand(1, 9) . ';', 'r:' . mt_rand(1, 9) . ';',
                'E:0000000011:"Suit:Hearts";', 'O:8:"Unlisted":0:{}']);
            return preg_replace('/i:\d+;(?=[a-zA-Z}])/', $value, $text, 1);
        case 4:
            return preg_replace_callback('/:(\d+):\{(?=\w:)/', fn ($found) => ':' . max(0, $found[1] + mt_rand(-2, 2))
                . ':{', $text, 1);
        case 5: return $text . pick(['s:999:"', '}']);
        default:
            $payload = pick([
                'E:00000000000011:"Suit:Hearts";', 'O:8:"Unlisted":0:{}', 'a:1:{i:0;O:6:"Listed":0:{}',
                ' O:8:"Unlisted":0:{}',
                'O:6:"Listed":1:{s:1:"a";O:8:"Unlisted":0:{}}', 'x:i:1;O:8:"Unlisted":0:{},N;;m:a:0:{}',
                'b:1;E:11:"Suit:Hearts";',
            ]);
            $class = pick(['ListedPayload', 'ListedArray', 'UnlistedPayload', 'stdClass', 'ArrayObject']);
            return 'a:2:{i:0;' . custom_object($class, $payload) . "i:1;$text}";
    }
}

/** Returns functions that read PHP's text: for each list of classes, the three of Icecore. */
function readers(): array
{
    $names = ['ListedPayload', 'Listed', 'ListedArray'];
    $readers = [];
    foreach ([['classes' => $names], ['allowed_classes' => $names], ['classes' => [...$names, 'record']],
        ['allowed_classes' => false], ['classes' => 'record'], []] as $list) {
        $readers[] = fn (string $text) => Icecore\unserialize($text, $list);
        $readers[] = fn (string $text) =>
            Icecore\decode($text, 'php', array_diff_key($list, ['allowed_classes' => 0]));
        $readers[] = fn (string $text) =>
            Icecore\igbinary_unserialize(Icecore\convert($text, 'php', 'igbinary'), $list);
    }
    return $readers;
}

$readers = readers();
$passed = $failed = 0;
for ($round = 0; $round < $count; $round++) {
    $text = serialize([random_value(4), random_value(3)]);
    if (mt_rand(0, 2) === 0) {
        // PHP up to 7.3 wrote ArrayObject as a C: object.
        $old = custom_object(pick(['ArrayObject', 'ListedArray']), 'x:i:0;' . serialize([random_value(2)])
            . ';m:a:0:{}');
        $text = "a:2:{i:0;{$old}i:1;$text}";
    }
    for ($change = 0; $change < 12; $change++) {
        $changed = $text;
        for ($times = mt_rand(0, 3); $times > 0; $times--) {
            $changed = change_text($changed) ?: 'N';
        }
        try {
            Icecore\convert($changed, 'php', 'json:typed');
            $is_malformed = false;
        } catch (Icecore\Exception) {
            $is_malformed = true;
        }
        foreach ($readers as $number => $read) {
            Calls::$reader = pick(['unserialize', 'Icecore\unserialize']);
            Calls::$all = [];
            Calls::$are_recorded = true;
            $value = null;
            try {
                $value = $read($changed);
            } catch (Throwable) {
            }
            unset($value);
            gc_collect_cycles();
            Calls::$are_recorded = false;
            // Every third reader is decode, which checks all bytes before it builds.
            $wrong = array_filter(Calls::$all, fn ($call) => str_starts_with($call, 'unlisted')
                || ($is_malformed && $number % 3 === 1));
            if ($wrong === []) {
                $passed++;
            } elseif ($failed++ < $show) {
                echo "not ok - seed $seed, round $round, reader $number, ", Calls::$reader, ': ',
                    implode(', ', $wrong), "\n    ", addcslashes($changed, "\0..\37\177..\377"), "\n";
            }
        }
    }
}
echo "$passed passed, $failed failed\n";
exit($failed === 0 ? 0 : 1);
