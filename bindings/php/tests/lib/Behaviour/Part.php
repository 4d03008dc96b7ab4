<?php
// The place where a value, an error or a log differs from a line.

declare(strict_types=1);

final class Part extends Exception
{
}
