<?php
// Random values, classes and damaged texts by a seed: Icecore must do the same as PHP's own
// functions, in values, identity, references, warnings, exceptions and order of hooks.
//
//   php -d extension=icecore.so chance.php [--seed N] [--count N] [--from N] [--with php] [--trace FILE] [--show N] [--no igbinary]
//
// --with php compares PHP with itself, which tests the test. --trace saves the text that is being
// read, for a process that crashes.

declare(strict_types=1);

foreach (['Side', 'Outcome', 'Chance/Dice', 'Chance/ClassMaker', 'Chance/ValueMaker', 'Chance/Text', 'Chance/Wanted'] as $file) {
    require __DIR__ . "/lib/$file.php";
}

ini_set('memory_limit', '1G');
date_default_timezone_set('UTC');
spl_autoload_register(fn (string $name) => Outcome::note("autoload $name"));

final class Chance
{
    private int $compared = 0;
    private int $failed = 0;
    private array $wanted = [];
    private string $where = '';
    private array $classes = [];
    private int $round = -1;

    public function __construct(private readonly Side $ours, private readonly Side $php, private readonly int $seed, private readonly ?string $trace, private readonly int $show, private readonly bool $hasIgbinary)
    {
    }

    public function run(int $from, int $count): int
    {
        for ($case = $from; $case < $from + $count; $case++) {
            // Classes can't be removed: now and then new ones are made.
            if (intdiv($case, 250) !== $this->round) {
                $this->round = intdiv($case, 250);
                Dice::seed($this->seed, -1 - $this->round);
                $this->classes = (new ClassMaker(20, "R{$this->round}x"))->classes;
            }
            Dice::seed($this->seed, $case);
            $this->where = "--seed $this->seed --from $case --count 1";
            $this->values();
            $this->igbinary();
            $this->exports();
        }
        foreach (Wanted::WHY as $name => $why) {
            echo '# wanted difference, ', $this->wanted[$name] ?? 0, " times: $name: $why\n";
        }
        echo "# seed $this->seed\n", $this->compared - $this->failed, " passed, $this->failed failed\n";
        return $this->failed ? 1 : 0;
    }

    private function outcome(Side $side, Closure $call): Outcome
    {
        return Outcome::of(fn () => $side->during($call));
    }

    private function compare(string $what, Outcome $ours, Outcome $php, ?Closure $wanted = null, ?string $text = null, ?Closure $again = null): void
    {
        $this->compared++;
        if ($ours->equals($php)) {
            return;
        }
        if ($name = $wanted ? $wanted() : null) {
            $this->wanted[$name] = ($this->wanted[$name] ?? 0) + 1;
            return;
        }
        if (++$this->failed > $this->show) {
            return;
        }
        if ($text !== null && $again !== null) {
            $text = $this->smallest($text, $again);
            [$ours, $php] = [$this->unserialized($this->ours, $text), $this->unserialized($this->php, $text)];
        }
        echo "not ok - $what ($this->where)\n";
        if ($text !== null) {
            echo '    text ', Shape::string(substr($text, 0, 3000)), "\n";
        }
        [$left, $right] = [$ours->text(), $php->text()];
        $same = strspn($left ^ $right, "\0");
        $skip = $same > 300 ? $same - 200 : 0;
        echo $skip ? "    (equal for $same bytes)\n" : '';
        foreach ([$this->ours->name => $left, 'PHP itself' => $right] as $name => $said) {
            echo "    $name:\n", preg_replace('/^/m', '        ', preg_replace('/[^\n -~]/', '?', substr($said, $skip, 1200))), "\n";
        }
        $named = array_filter($this->classes, fn ($class, $name) => str_contains($text . $left . $right, $name . '"') || str_contains($text . $left . $right, "$name "), ARRAY_FILTER_USE_BOTH);
        foreach (array_slice($named, 0, 3) as $class) {
            echo preg_replace('/^/m', '    | ', trim($class['source'])), "\n";
        }
    }

    // Returns the smallest text for which both still differ.
    private function smallest(string $text, Closure $differs): string
    {
        $tree = Text::parse($text);
        for ($tries = 0; $tree !== null && $tries < 400;) {
            $found = null;
            foreach (Text::smaller($tree) as $small) {
                if (++$tries >= 400) {
                    break;
                }
                if ($differs(Text::print($small))) {
                    $found = $small;
                    break;
                }
            }
            if ($found === null) {
                break;
            }
            $tree = $found;
            $text = Text::print($tree);
        }
        return $text;
    }

    private function unserialized(Side $side, string $text, array $options = []): Outcome
    {
        if ($this->trace !== null) {
            file_put_contents($this->trace, "$this->where\n$text");
        }
        return $this->outcome($side, fn () => $side->unserialize($text, $options));
    }

    private function read(string $what, string $text, array $options = []): void
    {
        // PHP 8.2 itself crashes when it frees such a period.
        if (preg_match('/"DatePeriod":\d+:\{.*"start";N;/s', $text)) {
            return;
        }
        $wanted = function (string $text, Outcome $ours, Outcome $php) use ($options) {
            return Wanted::unserialize($ours, $php, $this->unserialized($this->php, $text, ['allowed_classes' => false] + $options), $text);
        };
        $php = $this->unserialized($this->php, $text, $options);
        $ours = $this->unserialized($this->ours, $text, $options);
        $again = function (string $text) use ($options, $wanted) {
            [$ours, $php] = [$this->unserialized($this->ours, $text, $options), $this->unserialized($this->php, $text, $options)];
            return !$ours->equals($php) && !$wanted($text, $ours, $php);
        };
        $this->compare($what, $ours, $php, fn () => $wanted($text, $ours, $php), $text, $options ? null : $again);
    }

    private function values(): void
    {
        $value = (new ValueMaker($this->classes))->value();
        $php = $this->outcome($this->php, fn () => $this->php->serialize($value));
        $ours = $this->outcome($this->ours, fn () => $this->ours->serialize($value));
        $this->compare('serialize', $ours, $php, null, $php->plain ?: null);
        if (!is_string($php->plain)) {
            return;
        }
        $text = $php->plain;
        $this->read('unserialize', $text);
        if (is_string($ours->plain) && $ours->plain !== $text) {
            $this->read('unserialize what Icecore wrote', $ours->plain);
        }
        if (Dice::one(4)) {
            $this->read('max_depth', $text, ['max_depth' => Dice::below(6)]);
        }
        if (Dice::one(4) && !str_contains($text, 'E:')) {
            $this->read('allowed_classes', $text, ['allowed_classes' => Dice::one(2) ? false : [Dice::pick(array_keys($this->classes)), 'stdClass', 'arrayobject']]);
        }
        for ($n = 0; $n < 3; $n++) {
            $this->read('damaged bytes', self::damaged($text));
        }
        $tree = Text::parse($text);
        for ($n = 0; $n < 5 && $tree !== null && strlen($text) < 20_000; $n++) {
            $changed = $tree;
            for ($times = 1 + Dice::below(2); $times > 0; $times--) {
                Text::change($changed, array_keys($this->classes));
            }
            $this->read('changed meaning', Text::print($changed));
        }
    }

    private static function damaged(string $text): string
    {
        $at = Dice::below(max(1, min(strlen($text), 3000)));
        return match (Dice::below(5)) {
            0 => substr($text, 0, $at),
            1 => substr_replace($text, chr(mt_rand(0, 255)), $at, 1),
            2 => substr_replace($text, '', $at, 1 + Dice::below(3)),
            3 => substr_replace($text, Dice::pick(['0', '1', '9', '-', ':', ';', '{', '}', '"', 'i:0;', 'N;', "\0"]), $at, Dice::below(2)),
            4 => substr_replace($text, $text[$at], Dice::below(strlen($text)), 1),
        };
    }

    private function igbinary(): void
    {
        if (!$this->hasIgbinary) {
            return;
        }
        // The igbinary extension follows recursive arrays until the stack is exhausted.
        $value = (new ValueMaker($this->classes, true))->value();
        $php = $this->outcome($this->php, fn () => $this->php->igbinarySerialize($value));
        $ours = $this->outcome($this->ours, fn () => $this->ours->igbinarySerialize($value));
        $this->compare('igbinary_serialize', $ours, $php);
        if (!is_string($php->plain)) {
            return;
        }
        $bytes = $php->plain;
        $read = fn (Side $side, string $bytes) => $this->outcome($side, fn () => $side->igbinaryUnserialize($bytes));
        $this->compare('igbinary_unserialize', $read($this->ours, $bytes), $read($this->php, $bytes), null, $bytes);
        // The igbinary extension itself may crash on damaged bytes, and is not tested.
        if ($this->ours->name !== $this->php->name) {
            $cut = $read($this->ours, substr($bytes, 0, Dice::below(strlen($bytes))));
            $this->compared++;
            if ($cut->log || !$cut->isFailure() && !str_starts_with($cut->result, 'value null')) {
                $this->failed++;
                echo "not ok - igbinary, cut ($this->where)\n", preg_replace('/^/m', '    ', $cut->text()), "\n";
            }
        }
    }

    private function exports(): void
    {
        $value = (new ValueMaker([], true, 4))->value();
        $php = $this->outcome($this->php, fn () => $this->php->varExport($value));
        $this->compare('var_export', $this->outcome($this->ours, fn () => $this->ours->varExport($value)), $php, null, $php->plain ?: null);
        $plain = $this->exportable(0);
        $text = (string) $this->php->varExport($plain);
        $import = fn (Side $side) => $this->outcome($side, fn () => $side->varImport($text));
        $this->compare('var_import', $import($this->ours), $import($this->php), null, $text);
    }

    // Returns a value that var_export writes so that PHP reads the same value.
    private function exportable(int $depth): mixed
    {
        $kind = $depth > 3 ? 0 : Dice::below(6);
        if ($kind < 2) {
            return (new ValueMaker([], true))->scalar();
        }
        if ($kind === 2) {
            return Dice::pick([...Suit::cases(), ...Plainly::cases()]);
        }
        if ($kind === 3) {
            $object = new WithState;
            $object->p = $this->exportable($depth + 1);
            $object->next = Dice::one(3) ? new WithState : null;
            return $object;
        }
        $array = [];
        for ($n = Dice::below(5); $n > 0; $n--) {
            $array[Dice::one(2) ? Dice::below(20) - 5 : Dice::pick(['a', 'b', '1.5', "q'\\", "\0", ''])] = $this->exportable($depth + 1);
        }
        return $kind === 4 && !isset($array['']) && !isset($array["\0"]) ? (object) $array : $array;
    }
}

$options = getopt('', ['seed:', 'count:', 'from:', 'with:', 'trace:', 'show:', 'no:']);
$seed = (int) ($options['seed'] ?? random_int(1, 999_999));
$ours = ($options['with'] ?? 'icecore') === 'php' ? Side::php() : Side::icecore();
exit((new Chance($ours, Side::php(), $seed, $options['trace'] ?? null, (int) ($options['show'] ?? 10), ($options['no'] ?? '') !== 'igbinary' && $ours->hasIgbinary() && Side::php()->hasIgbinary()))->run((int) ($options['from'] ?? 0), (int) ($options['count'] ?? 1000)));
