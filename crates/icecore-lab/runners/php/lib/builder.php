<?php
// A program that builds a value: the floor under every reader.
//
// An array of constants would itself be a constant, that PHP never copies. So each array has
// at least one element that only running the program gives. Strings are constants all the
// same: they are shared, where a reader has to copy each one.

declare(strict_types=1);

/** Makes functions that build values. */
final class Builder
{
    /** As many elements of an array are built by one function. */
    private const CHUNK = 2000;

    /** Variables that each element contains, so that it is not a constant. */
    private const NEUTRAL = '$one = 1; $empty = ""; $null = null; $true = true; $false = false;';

    private int $parts = 0;
    private array $constructors = [];
    private array $open = [];

    /** Defines a function of this name that builds the value. */
    public function define(string $name, mixed $value): void
    {
        $this->compile($name, '', 'return ' . $this->expression($value, true) . ';');
    }

    private function compile(string $name, string $parameters, string $body): void
    {
        eval("function $name($parameters) { " . self::NEUTRAL . " $body }");
    }

    private function expression(mixed $value, bool $run = false): string
    {
        return match (true) {
            is_array($value) => $this->array($value),
            is_object($value) => $this->object($value),
            default => $run ? $this->computed($value) : var_export($value, true),
        };
    }

    /** A scalar that is not a constant of the program. */
    private function computed(mixed $value): string
    {
        return match (true) {
            is_int($value), is_float($value) => '$one * (' . var_export($value, true) . ')',
            is_string($value) => '$empty . ' . var_export($value, true),
            is_bool($value) => $value ? '$true' : '$false',
            default => '$null',
        };
    }

    private function array(array $value): string
    {
        if (count($value) > self::CHUNK) {
            return $this->long($value);
        }
        return '[' . $this->elements($value, array_is_list($value)) . ']';
    }

    private function elements(array $value, bool $list): string
    {
        $run = !self::has_parts($value);
        $text = '';
        foreach ($value as $key => $element) {
            $text .= ($list ? '' : var_export($key, true) . '=>') . $this->expression($element, $run) . ',';
            $run = false;
        }
        return $text;
    }

    private static function has_parts(array $value): bool
    {
        foreach ($value as $element) {
            if (is_object($element) || (is_array($element) && $element !== [])) {
                return true;
            }
        }
        return false;
    }

    /** A long array, in functions of some elements each. */
    private function long(array $value): string
    {
        $list = array_is_list($value);
        $calls = '';
        foreach (array_chunk($value, self::CHUNK, true) as $chunk) {
            $body = '';
            foreach ($chunk as $key => $element) {
                $at = $list ? '' : var_export($key, true);
                $body .= "\$made[$at] = {$this->expression($element)};";
            }
            $name = 'lab_part_' . $this->parts++;
            $this->compile($name, '&$made', $body);
            $calls .= "$name(\$made); ";
        }
        $name = 'lab_part_' . $this->parts++;
        $this->compile($name, '', "\$made = []; $calls return \$made;");
        return "$name()";
    }

    private function object(object $value): string
    {
        if (isset($this->open[spl_object_id($value)])) {
            throw new Cannot('an object stands in the value twice');
        }
        $this->open[spl_object_id($value)] = true;
        if ($value instanceof stdClass) {
            return '(object) [' . $this->elements((array) $value, false) . ']';
        }
        $given = $this->constructor($value::class);
        $properties = (array) $value;
        $arguments = '';
        foreach ($given as $name) {
            $arguments .= $this->expression($properties[$name] ?? null) . ',';
        }
        return 'new \\' . $value::class . "($arguments)";
    }

    /** The names of a constructor's parameters, which must be the names of the properties. */
    private function constructor(string $class): array
    {
        return $this->constructors[$class] ??= (static function () use ($class) {
            $about = new ReflectionClass($class);
            $name = static fn (object $it): string => $it->getName();
            $given = array_map($name, $about->getConstructor()?->getParameters() ?? []);
            $held = array_map($name, $about->getProperties(ReflectionProperty::IS_PUBLIC));
            if (array_diff($held, $given) !== [] || count($held) !== count($about->getProperties())) {
                throw new Cannot("the class $class can't be built by its constructor alone");
            }
            return $given;
        })();
    }
}
