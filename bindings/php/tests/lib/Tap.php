<?php
// Results of tests as TAP, one line for each; failures are also printed on the error output. The
// last line has the counts.

declare(strict_types=1);

final class Tap
{
    private int $passed = 0;
    private int $failed = 0;
    private array $skipped = [];

    public function ok(bool $passed, string $name, string $why = ''): void
    {
        $passed ? $this->passed++ : $this->failed++;
        $name = self::line($name);
        echo $passed ? 'ok ' : 'not ok ', $this->count(), " - $name\n";
        if (!$passed) {
            fwrite(STDERR, "failed: $name\n" . ($why === '' ? '' : preg_replace('/^/m', '    ', $why) . "\n"));
        }
    }

    public function skip(string $name, string $why): void
    {
        $this->skipped[] = "$name: $why";
        echo 'ok ', $this->count(), ' - ', self::line($name), ' # SKIP ', self::line($why), "\n";
    }

    // Prints the plan and the counts, and returns the exit code.
    public function done(): int
    {
        echo '1..', $this->count(), "\n";
        foreach ($this->skipped as $what) {
            echo '# skipped: ', self::line($what), "\n";
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
