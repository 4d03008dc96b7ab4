<?php
// Prints the results of tests as TAP, one line for each. Failures are also printed to the error
// output. The last line has the counts.

declare(strict_types=1);

final class Tap
{
    private int $passed = 0;
    private int $failed = 0;
    private array $skipped = [];

    public function ok(bool $passed, string $name, string $details = ''): void
    {
        $passed ? $this->passed++ : $this->failed++;
        $name = self::line($name);
        echo $passed ? 'ok ' : 'not ok ', $this->count(), " - $name\n";
        if (!$passed) {
            fwrite(STDERR, "failed: $name\n"
                . ($details === '' ? '' : preg_replace('/^/m', '    ', $details) . "\n"));
        }
    }

    public function skip(string $name, string $reason): void
    {
        $this->skipped[] = "$name: $reason";
        echo 'ok ', $this->count(), ' - ', self::line($name), ' # SKIP ', self::line($reason), "\n";
    }

    // Prints the plan and the counts, and returns the exit code.
    public function done(): int
    {
        echo '1..', $this->count(), "\n";
        foreach ($this->skipped as $test) {
            echo '# skipped: ', self::line($test), "\n";
        }
        echo "$this->passed passed, $this->failed failed, ", count($this->skipped), " skipped\n";
        return $this->failed > 0 ? 1 : 0;
    }

    private function count(): int
    {
        return $this->passed + $this->failed + count($this->skipped);
    }

    private static function line(string $text): string
    {
        return preg_replace('/[\x00-\x1f]/', ' ', strtr($text, ['#' => '']));
    }
}
