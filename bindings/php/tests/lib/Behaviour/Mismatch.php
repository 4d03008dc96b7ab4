<?php
// Thrown where a value, an error or a log differs from a line. The message names the place.

declare(strict_types=1);

final class Mismatch extends Exception
{
}
