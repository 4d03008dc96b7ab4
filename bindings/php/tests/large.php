<?php
// Large and deep values by a seed: thousands of nodes, hundreds of levels, long strings, lists and
// rows of one shape, with hooks and links. The output must have PHP's bytes, and values that were
// read must give the same bytes again.
//
//   php -d extension=icecore.so large.php [--seed N] [--count N] [--from N]

declare(strict_types=1);

namespace Large;

require __DIR__ . '/lib/Chance/Dice.php';

use Dice;

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

// Its front, and the name of its property, are longer than the buffers for them.
class NamedByAnAuthorWhoLikesLongNamesMoreThanTheOnesWhoHaveToReadThemAndNeverGrowsTiredOfThem
{
    public int $propertyThatIsNamedByTheSameAuthorInTheVerySameMoodAsTheClassItself = 1;
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
    private int $left;
    private array $objects = [];
    private array $variables = [];

    public function __construct()
    {
        $this->left = Dice::pick([10, 300, 3000]);
    }

    public function value(int $depth): mixed
    {
        if (--$this->left < 0 || $depth <= 0 || ($depth < 12 && Dice::one(3))) {
            return self::leaf();
        }
        $few = Dice::below(Dice::one(15) ? 60 : 7);
        switch (Dice::below(18)) {
            case 0:
            case 1:
                return $this->several($few, fn ($i) => $i, $depth);
            case 2:
            case 3:
                return $this->several($few, self::key(...), $depth);
            case 4:
                return array_map(fn ($i) => ['id' => $i, 'name' => "row $i", 'more' => Dice::one(9) ? $this->value($depth - 2) : self::leaf()], range(0, $few));
            case 5:
                return array_map(fn ($i) => new Typed("object $i", Dice::below(30_000)), range(0, $few * 4));
            case 6:
                return $this->slots($depth);
            case 7:
                return $this->objects[] = (object) $this->several($few, fn ($i) => "p$i", $depth);
            case 8:
                $hooked = $this->objects[] = new Hooked();
                $hooked->value = $this->value($depth - 1);
                return $hooked;
            case 9:
                $sleeping = new Sleeping();
                $sleeping->value = $this->value($depth - 1);
                return $sleeping;
            case 10:
                return Dice::one(2) ? Dice::pick(Suit::cases()) : new \ArrayObject([$this->value($depth - 1)]);
            case 11:
                return $this->objects ? Dice::pick($this->objects) : new NamedByAnAuthorWhoLikesLongNamesMoreThanTheOnesWhoHaveToReadThemAndNeverGrowsTiredOfThem();
            case 12:
                $array = [1, $this->value($depth - 1)];
                $this->variables[] = &$array[0];
                $array[2] = &$this->variables[array_rand($this->variables)];
                return $array;
            case 13:
                $shared = $this->value($depth - 1);
                return [$shared, $shared, 'again' => $shared];
            case 14:
                return $this->deep(Dice::pick([60, 70, 130, 280]));
            case 15:
                $many = range(0, Dice::pick([40, 600, 1100, 4000]));
                return Dice::one(2) ? $many : array_diff_key($many, [7 => true]);
            case 16:
                $names = array_map(fn ($i) => "key$i", range(0, Dice::pick([33, 600, 2000])));
                return array_combine($names, array_map(fn ($i) => $i % 7 ? $i : [$i], array_keys($names)));
            default:
                return new NamedByAnAuthorWhoLikesLongNamesMoreThanTheOnesWhoHaveToReadThemAndNeverGrowsTiredOfThem();
        }
    }

    private function several(int $count, callable $key, int $depth): array
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
        $object->next = Dice::one(2) ? new Slots() : null;
        if (Dice::one(4)) {
            unset($object->a);
        }
        if (Dice::one(4)) {
            // PHP then keeps a table of the properties.
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
            $value = match (Dice::below(4)) {
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
        return match (Dice::below(9)) {
            0 => Dice::pick([null, true, false]),
            1 => Dice::below(120),
            2 => Dice::below(20_000),
            3 => -mt_rand(),
            4 => mt_rand() * mt_rand(),
            5 => Dice::below(100_000) / Dice::pick([1, 10, 100, 1000, 7]),
            6 => Dice::pick([PHP_INT_MAX, PHP_INT_MIN, INF, -0.0, 99_999_999, 100_000_000, 10_000, 9_999, 1e15, 1.5e-7]),
            default => self::text(),
        };
    }

    private static function text(): string
    {
        $lengths = [0, 1, 5, 9, 10, 16, 31, 32, 33, 63, 64, 65, 99, 100, 101, 300, 512, 513, 3000, 9000];
        return str_repeat(Dice::pick(['a', "\u{e9}", "\0", '"']), $lengths[Dice::below(Dice::one(12) ? 20 : 13)]);
    }

    private static function key(int $i): int|string
    {
        return Dice::pick([$i, "k$i", 'id', 'name', self::text(), "0$i", Dice::below(200) - 5]);
    }
}

function where(string $one, string $other): string
{
    $at = strspn($one ^ $other, "\0");
    return "at byte $at: " . addcslashes(substr($one, max(0, $at - 40), 80), "\0..\37") . ' | ' . addcslashes(substr($other, max(0, $at - 40), 80), "\0..\37");
}

$options = getopt('', ['seed:', 'count:', 'from:']);
$seed = (int) ($options['seed'] ?? random_int(1, 999_999));
$from = (int) ($options['from'] ?? 0);
$passed = $failed = 0;
for ($case = $from; $case < $from + (int) ($options['count'] ?? 200); $case++) {
    Dice::seed($seed, $case);
    $maker = new Maker();
    $value = array_map(fn () => $maker->value(12), range(1, 12));
    $text = \serialize($value);
    $checks = ['written' => [\Icecore\serialize($value), $text]];
    if (strlen($text) < 1_000_000) {
        $all = ['allowed_classes' => true];
        $checks['read'] = [\serialize(\Icecore\unserialize($text, $all)), \serialize(\unserialize($text))];
        $checks['both'] = [\Icecore\serialize(\Icecore\unserialize($text, $all)), $checks['read'][1]];
    }
    foreach ($checks as $what => [$ours, $theirs]) {
        if ($ours === $theirs) {
            $passed++;
        } else {
            $failed++;
            echo "not ok - $what, --seed $seed --from $case --count 1, ", where($ours, $theirs), "\n";
        }
    }
}
echo "# seed $seed\n$passed passed, $failed failed\n";
exit($failed ? 1 : 0);
