<?php
// Runs the code of a case on two sides, each with its own classes: the code's `class A` becomes a
// different class for each side, with a name of the same length.

declare(strict_types=1);

final class Cases
{
    private static int $number = 0;

    public function __construct(private readonly Side $ours, private readonly Side $php)
    {
    }

    public function both(string $code): array
    {
        $number = ++self::$number;
        return [$this->said($this->ours, $code, sprintf('X%04d', $number)), $this->said($this->php, $code, sprintf('P%04d', $number))];
    }

    // Names that begin with Q_ belong to the case, and every case gets new ones.
    private function said(Side $side, string $code, string $prefix): string
    {
        $code = preg_replace('/\bQ_/', "{$prefix}_", $code);
        $outcome = Outcome::of(fn () => $side->during(function (Side $side) use ($code) {
            $s = $side->serialize(...);
            $u = $side->unserialize(...);
            $show = fn (mixed $value) => Outcome::note(Shape::of($value));
            $say = fn (mixed $text) => Outcome::note((string) $text);
            // A refusal with an exception, as one word.
            $try = function (Closure $call) use ($show, $say) {
                try {
                    $show($call());
                } catch (Throwable $error) {
                    $say(Outcome::exception($error));
                }
            };
            eval($code);
            return null;
        }));
        // The original names are restored in messages and texts.
        return str_replace([$prefix, "'{$prefix}'"], ['Q', "'Q'"], $outcome->text());
    }
}
