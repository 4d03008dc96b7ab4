<?php
// Compares Icecore with PHP's own functions, on random values, classes and damaged texts. Values,
// identity, references, warnings, exceptions and the order of hooks must be the same.
//
//   php -d extension=icecore.so chance.php [--seed N] [--count N] [--from N] [--with php] [--trace FILE] [--show N] [--no igbinary]
//
// --with php compares PHP with itself, which tests the test. --trace saves each text before it is
// read, for a process that crashes.

declare(strict_types=1);

foreach (['Implementation', 'Outcome', 'Chance/Rng', 'Chance/ClassMaker', 'Chance/ValueMaker', 'Chance/Text',
    'Chance/IntendedDifference'] as $file) {
    require __DIR__ . "/lib/$file.php";
}

ini_set('memory_limit', '1G');
date_default_timezone_set('UTC');
spl_autoload_register(fn (string $name) => Outcome::record("autoload $name"));

final class RandomTest
{
    private int $compared = 0;
    private int $failed = 0;
    private array $intendedCounts = [];
    private string $arguments = '';    // reproduce the current case
    private array $classes = [];
    private int $round = -1;

    public function __construct(
        private readonly Implementation $ours,
        private readonly Implementation $php,
        private readonly int $seed,
        private readonly ?string $trace,
        private readonly int $show,
        private readonly bool $hasIgbinary,
    ) {
    }

    public function run(int $from, int $count): int
    {
        for ($case = $from; $case < $from + $count; $case++) {
            // Every 250 cases get new classes. Old ones can't be removed.
            if (intdiv($case, 250) !== $this->round) {
                $this->round = intdiv($case, 250);
                Rng::seed($this->seed, -1 - $this->round);
                $this->classes = (new ClassMaker(20, "R{$this->round}x"))->classes;
            }
            Rng::seed($this->seed, $case);
            $this->arguments = "--seed $this->seed --from $case --count 1";
            $this->testValues();
            $this->testIgbinary();
            $this->testExports();
        }
        foreach (IntendedDifference::REASONS as $name => $reason) {
            echo '# intended difference, ', $this->intendedCounts[$name] ?? 0, " times: $name: $reason\n";
        }
        echo "# seed $this->seed\n", $this->compared - $this->failed, " passed, $this->failed failed\n";
        return $this->failed ? 1 : 0;
    }

    private function outcome(Implementation $implementation, Closure $call): Outcome
    {
        return Outcome::of(fn () => $implementation->run($call));
    }

    // Counts a comparison, and prints a difference. `intended` returns the name of an intended
    // difference, or null. `differs` tells if a smaller text still differs.
    private function compare(string $what, Outcome $ours, Outcome $php, ?Closure $intended = null,
        ?string $text = null, ?Closure $differs = null): void
    {
        $this->compared++;
        if ($ours->equals($php)) {
            return;
        }
        if ($name = $intended ? $intended() : null) {
            $this->intendedCounts[$name] = ($this->intendedCounts[$name] ?? 0) + 1;
            return;
        }
        if (++$this->failed > $this->show) {
            return;
        }
        if ($text !== null && $differs !== null) {
            $text = $this->smallest($text, $differs);
            [$ours, $php] = [$this->unserialized($this->ours, $text), $this->unserialized($this->php, $text)];
        }
        echo "not ok - $what ($this->arguments)\n";
        if ($text !== null) {
            echo '    text ', Shape::string(substr($text, 0, 3000)), "\n";
        }
        [$left, $right] = [$ours->text(), $php->text()];
        $same = strspn($left ^ $right, "\0");
        $skip = $same > 300 ? $same - 200 : 0;
        echo $skip ? "    (equal for $same bytes)\n" : '';
        foreach ([$this->ours->name => $left, 'PHP itself' => $right] as $name => $output) {
            echo "    $name:\n",
                preg_replace('/^/m', '        ', preg_replace('/[^\n -~]/', '?', substr($output, $skip, 1200))), "\n";
        }
        $named = array_filter($this->classes, fn ($class, $name) => str_contains($text . $left . $right, $name . '"')
            || str_contains($text . $left . $right, "$name "), ARRAY_FILTER_USE_BOTH);
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
            foreach (Text::reductions($tree) as $small) {
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

    private function unserialized(Implementation $implementation, string $text, array $options = []): Outcome
    {
        if ($this->trace !== null) {
            file_put_contents($this->trace, "$this->arguments\n$text");
        }
        return $this->outcome($implementation, fn () => $implementation->unserialize($text, $options));
    }

    // Compares the reading of a text.
    private function read(string $what, string $text, array $options = []): void
    {
        // PHP 8.2 itself crashes when it frees such a period.
        if (preg_match('/"DatePeriod":\d+:\{.*"start";N;/s', $text)) {
            return;
        }
        $intended = function (string $text, Outcome $ours, Outcome $php) use ($options) {
            return IntendedDifference::find($ours, $php,
                $this->unserialized($this->php, $text, ['allowed_classes' => false] + $options), $text);
        };
        $php = $this->unserialized($this->php, $text, $options);
        $ours = $this->unserialized($this->ours, $text, $options);
        $differs = function (string $text) use ($options, $intended) {
            [$ours, $php] = [$this->unserialized($this->ours, $text, $options),
                $this->unserialized($this->php, $text, $options)];
            return !$ours->equals($php) && !$intended($text, $ours, $php);
        };
        $this->compare($what, $ours, $php, fn () => $intended($text, $ours, $php), $text, $options ? null : $differs);
    }

    private function testValues(): void
    {
        $value = (new ValueMaker($this->classes))->value();
        $php = $this->outcome($this->php, fn () => $this->php->serialize($value));
        $ours = $this->outcome($this->ours, fn () => $this->ours->serialize($value));
        $this->compare('serialize', $ours, $php, null, $php->stringResult ?: null);
        if (!is_string($php->stringResult)) {
            return;
        }
        $text = $php->stringResult;
        $this->read('unserialize', $text);
        if (is_string($ours->stringResult) && $ours->stringResult !== $text) {
            $this->read('unserialize the text of Icecore', $ours->stringResult);
        }
        if (Rng::oneIn(4)) {
            $this->read('max_depth', $text, ['max_depth' => Rng::below(6)]);
        }
        if (Rng::oneIn(4) && !str_contains($text, 'E:')) {
            $list = Rng::oneIn(2) ? false : [Rng::pick(array_keys($this->classes)), 'stdClass', 'arrayobject'];
            $this->read('allowed_classes', $text, ['allowed_classes' => $list]);
        }
        for ($n = 0; $n < 3; $n++) {
            $this->read('damaged bytes', self::damageBytes($text));
        }
        $tree = Text::parse($text);
        for ($n = 0; $n < 5 && $tree !== null && strlen($text) < 20_000; $n++) {
            $changed = $tree;
            for ($times = 1 + Rng::below(2); $times > 0; $times--) {
                Text::change($changed, array_keys($this->classes));
            }
            $this->read('changed meaning', Text::print($changed));
        }
    }

    private static function damageBytes(string $text): string
    {
        $offset = Rng::below(max(1, min(strlen($text), 3000)));
        return match (Rng::below(5)) {
            0 => substr($text, 0, $offset),
            1 => substr_replace($text, chr(mt_rand(0, 255)), $offset, 1),
            2 => substr_replace($text, '', $offset, 1 + Rng::below(3)),
            3 => substr_replace($text, Rng::pick(['0', '1', '9', '-', ':', ';', '{', '}', '"', 'i:0;', 'N;', "\0"]),
                $offset, Rng::below(2)),
            4 => substr_replace($text, $text[$offset], Rng::below(strlen($text)), 1),
        };
    }

    private function testIgbinary(): void
    {
        if (!$this->hasIgbinary) {
            return;
        }
        // Without recursive arrays, which the igbinary extension follows until its stack is exhausted.
        $value = (new ValueMaker($this->classes, true))->value();
        $php = $this->outcome($this->php, fn () => $this->php->igbinarySerialize($value));
        $ours = $this->outcome($this->ours, fn () => $this->ours->igbinarySerialize($value));
        $this->compare('igbinary_serialize', $ours, $php);
        if (!is_string($php->stringResult)) {
            return;
        }
        $bytes = $php->stringResult;
        $read = fn (Implementation $implementation, string $bytes) =>
            $this->outcome($implementation, fn () => $implementation->igbinaryUnserialize($bytes));
        [$ours, $php] = [$read($this->ours, $bytes), $read($this->php, $bytes)];
        $intended = fn () => $ours->textWithoutRepeats() === $php->textWithoutRepeats()
            ? 'one call of the autoloader' : null;
        $this->compare('igbinary_unserialize', $ours, $php, $intended, $bytes);
        // Only Icecore reads damaged bytes, on which the igbinary extension may crash.
        if ($this->ours->name !== $this->php->name) {
            $cut = $read($this->ours, substr($bytes, 0, Rng::below(strlen($bytes))));
            $this->compared++;
            if ($cut->log || !$cut->isFailure() && !str_starts_with($cut->result, 'value null')) {
                $this->failed++;
                echo "not ok - igbinary, cut ($this->arguments)\n", preg_replace('/^/m', '    ', $cut->text()), "\n";
            }
        }
    }

    private function testExports(): void
    {
        $value = (new ValueMaker([], true, 4))->value();
        $php = $this->outcome($this->php, fn () => $this->php->varExport($value));
        $this->compare('var_export', $this->outcome($this->ours, fn () => $this->ours->varExport($value)), $php, null,
            $php->stringResult ?: null);
        $plain = $this->exportable(0);
        $text = (string) $this->php->varExport($plain);
        $import = fn (Implementation $implementation) =>
            $this->outcome($implementation, fn () => $implementation->varImport($text));
        $this->compare('var_import', $import($this->ours), $import($this->php), null, $text);
    }

    // Returns a value that var_export writes so that PHP reads the same value.
    private function exportable(int $depth): mixed
    {
        $kind = $depth > 3 ? 0 : Rng::below(6);
        if ($kind < 2) {
            return (new ValueMaker([], true))->scalar();
        }
        if ($kind === 2) {
            return Rng::pick([...Suit::cases(), ...Plainly::cases()]);
        }
        if ($kind === 3) {
            $object = new WithState;
            $object->p = $this->exportable($depth + 1);
            $object->next = Rng::oneIn(3) ? new WithState : null;
            return $object;
        }
        $array = [];
        for ($n = Rng::below(5); $n > 0; $n--) {
            $key = Rng::oneIn(2) ? Rng::below(20) - 5 : Rng::pick(['a', 'b', '1.5', "q'\\", "\0", '']);
            $array[$key] = $this->exportable($depth + 1);
        }
        return $kind === 4 && !isset($array['']) && !isset($array["\0"]) ? (object) $array : $array;
    }
}

$options = getopt('', ['seed:', 'count:', 'from:', 'with:', 'trace:', 'show:', 'no:']);
$seed = (int) ($options['seed'] ?? random_int(1, 999_999));
$ours = ($options['with'] ?? 'icecore') === 'php' ? Implementation::php() : Implementation::icecore();
$php = Implementation::php();
$hasIgbinary = ($options['no'] ?? '') !== 'igbinary' && $ours->hasIgbinary() && $php->hasIgbinary();
$test = new RandomTest($ours, $php, $seed, $options['trace'] ?? null, (int) ($options['show'] ?? 10), $hasIgbinary);
exit($test->run((int) ($options['from'] ?? 0), (int) ($options['count'] ?? 1000)));
