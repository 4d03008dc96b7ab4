<?php
// The place where a value, an error or a log parts from what a line says.

declare(strict_types=1);

final class Part extends Exception
{
}
