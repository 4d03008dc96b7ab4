<?php
// Writes and reads large and deep random values: thousands of nodes, hundreds of levels, long
// strings, lists of similar arrays and objects, with hooks and links. The output must have PHP's
// bytes, and values that were read must give the same bytes again.
//
//   php -d extension=icecore.so large.php [--seed N] [--count N] [--from N]

declare(strict_types=1);

namespace Large;

require __DIR__ . '/lib/Chance/Rng.php';

use Rng;

class Slots
{
    public mixed $a = null;
    protected $b;
    private $c = 1.25;
    public ?Slots $next = null;
    public array $list = [];
}

final class Typed
{
    public function __construct(public readonly string $name, public int $number = 1)
    {
    }
}

class Hooked
{
    public mixed $value = null;

    public function __serialize(): array
    {
        return ['value' => $this->value, 5 => 'x'];
    }

    public function __unserialize(array $data): void
    {
        $this->value = $data['value'];
    }
}

class Sleeping
{
    public mixed $value = null;
    private array $more = [1];
    public int $left = 3;

    public function __sleep(): array
    {
        return ['value', 'more'];
    }
}

// The header of its objects, and the name of its property, are longer than the engine's buffers.
class ClassWhoseNameIsSoLongThatTheHeaderOfItsObjectsDoesNotFitIntoOneOfTheBuffersOfTheEngine
{
    public int $propertyWhoseNameIsSoLongThatItDoesNotFitIntoOneOfTheEnginesBuffers = 1;
    private mixed $short = null;
}

enum Suit: string
{
    case Hearts = 'h';
    case Spades = 's';
}

final class Maker
{
    /** Number of values that may still be made. */
    private int $remaining;
    private array $objects = [];
    private array $variables = [];

    public function __construct()
    {
        $this->remaining = Rng::pick([10, 300, 3000]);
    }

    public function value(int $depth): mixed
    {
        if (--$this->remaining < 0 || $depth <= 0 || ($depth < 12 && Rng::oneIn(3))) {
            return self::leaf();
        }
        $count = Rng::below(Rng::oneIn(15) ? 60 : 7);
        switch (Rng::below(18)) {
            case 0:
            case 1:
                return $this->entries($count, fn ($i) => $i, $depth);
            case 2:
            case 3:
                return $this->entries($count, self::key(...), $depth);
            case 4:
                return array_map(fn ($i) => ['id' => $i, 'name' => "row $i",
                    'more' => Rng::oneIn(9) ? $this->value($depth - 2) : self::leaf()], range(0, $count));
            case 5:
                return array_map(fn ($i) => new Typed("object $i", Rng::below(30_000)), range(0, $count * 4));
            case 6:
                return $this->slots($depth);
            case 7:
                return $this->objects[] = (object) $this->entries($count, fn ($i) => "p$i", $depth);
            case 8:
                $hooked = $this->objects[] = new Hooked();
                $hooked->value = $this->value($depth - 1);
                return $hooked;
            case 9:
                $sleeping = new Sleeping();
                $sleeping->value = $this->value($depth - 1);
                return $sleeping;
            case 10:
                return Rng::oneIn(2) ? Rng::pick(Suit::cases()) : new \ArrayObject([$this->value($depth - 1)]);
            case 11:
                return $this->objects
                    ? Rng::pick($this->objects) : new ClassWhoseNameIsSoLongThatTheHeaderOfItsObjectsDoesNotFitIntoOneOfTheBuffersOfTheEngine();
            case 12:
                $array = [1, $this->value($depth - 1)];
                $this->variables[] = &$array[0];
                $array[2] = &$this->variables[array_rand($this->variables)];
                return $array;
            case 13:
                $shared = $this->value($depth - 1);
                return [$shared, $shared, 'again' => $shared];
            case 14:
                return $this->deep(Rng::pick([60, 70, 130, 280]));
            case 15:
                $many = range(0, Rng::pick([40, 600, 1100, 4000]));
                return Rng::oneIn(2) ? $many : array_diff_key($many, [7 => true]);
            case 16:
                $names = array_map(fn ($i) => "key$i", range(0, Rng::pick([33, 600, 2000])));
                return array_combine($names, array_map(fn ($i) => $i % 7 ? $i : [$i], array_keys($names)));
            default:
                return new ClassWhoseNameIsSoLongThatTheHeaderOfItsObjectsDoesNotFitIntoOneOfTheBuffersOfTheEngine();
        }
    }

    private function entries(int $count, callable $key, int $depth): array
    {
        $array = [];
        for ($i = 0; $i < $count; $i++) {
            $array[$key($i)] = $this->value($depth - 1);
        }
        return $array;
    }

    private function slots(int $depth): Slots
    {
        $object = $this->objects[] = new Slots();
        $object->a = $this->value($depth - 1);
        $object->list = [$this->value($depth - 1)];
        $object->next = Rng::oneIn(2) ? new Slots() : null;
        if (Rng::oneIn(4)) {
            unset($object->a);
        }
        if (Rng::oneIn(4)) {
            // This makes PHP keep a hash table of the properties.
            foreach ($object as $_) {
                break;
            }
        }
        return $object;
    }

    private function deep(int $levels): mixed
    {
        $value = self::leaf();
        while ($levels-- > 0) {
            $value = match (Rng::below(4)) {
                0 => [$value],
                1 => ['n' => $value, 'm' => 1],
                2 => (object) ['z' => $value],
                3 => [1, 2, $value, 'k' => [$value]],
            };
            if ($levels % 50 === 0) {
                // Two of the same double at each level.
                $value = [$levels];
            }
        }
        return $value;
    }

    private static function leaf(): mixed
    {
        return match (Rng::below(9)) {
            0 => Rng::pick([null, true, false]),
            1 => Rng::below(120),
            2 => Rng::below(20_000),
            3 => -mt_rand(),
            4 => mt_rand() * mt_rand(),
            5 => Rng::below(100_000) / Rng::pick([1, 10, 100, 1000, 7]),
            6 => Rng::pick([PHP_INT_MAX, PHP_INT_MIN, INF, -0.0, 99_999_999, 100_000_000, 10_000, 9_999, 1e15,
                1.5e-7]),
            default => self::text(),
        };
    }

    private static function text(): string
    {
        $lengths = [0, 1, 5, 9, 10, 16, 31, 32, 33, 63, 64, 65, 99, 100, 101, 300, 512, 513, 3000, 9000];
        return str_repeat(Rng::pick(['a', "\u{e9}", "\0", '"']), $lengths[Rng::below(Rng::oneIn(12) ? 20 : 13)]);
    }

    private static function key(int $i): int|string
    {
        return Rng::pick([$i, "k$i", 'id', 'name', self::text(), "0$i", Rng::below(200) - 5]);
    }
}

/** Describes the first difference of two texts. */
function firstDifference(string $ours, string $php): string
{
    $offset = strspn($ours ^ $php, "\0");
    return "at byte $offset: " . addcslashes(substr($ours, max(0, $offset - 40), 80), "\0..\37") . ' | '
        . addcslashes(substr($php, max(0, $offset - 40), 80), "\0..\37");
}

$options = getopt('', ['seed:', 'count:', 'from:']);
$seed = (int) ($options['seed'] ?? random_int(1, 999_999));
$from = (int) ($options['from'] ?? 0);
$passed = $failed = 0;
for ($case = $from; $case < $from + (int) ($options['count'] ?? 200); $case++) {
    Rng::seed($seed, $case);
    $maker = new Maker();
    $value = array_map(fn () => $maker->value(12), range(1, 12));
    $text = \serialize($value);
    $checks = ['written text' => [\Icecore\serialize($value), $text]];
    if (strlen($text) < 1_000_000) {
        $all = ['allowed_classes' => true];
        $checks['read value'] = [\serialize(\Icecore\unserialize($text, $all)), \serialize(\unserialize($text))];
        $checks['read and written value'] = [\Icecore\serialize(\Icecore\unserialize($text, $all)),
            $checks['read value'][1]];
    }
    foreach ($checks as $what => [$ours, $php]) {
        if ($ours === $php) {
            $passed++;
        } else {
            $failed++;
            echo "not ok - $what, --seed $seed --from $case --count 1, ", firstDifference($ours, $php), "\n";
        }
    }
}
echo "# seed $seed\n$passed passed, $failed failed\n";
exit($failed ? 1 : 0);
