<?php
// Builds a value from a description, by PHP's own means.
//
//   $value = (new Builder)->build($description);

declare(strict_types=1);

final class Builder
{
    private array $objects = [];      // by the id of the description
    private array $variables = [];    // by the id of the description

    public function build(mixed $description): mixed
    {
        $root = [];
        $this->buildItem($description, $root, 0);
        return $root[0];
    }

    private function buildInto(mixed $description, mixed &$slot, ?int $id = null): void
    {
        if (!is_array($description)) {
            $slot = $description;
        } elseif (array_is_list($description)) {
            $slot = [];
            foreach ($description as $key => $item) {
                $this->buildItem($item, $slot, $key);
            }
        } elseif (isset($description['map'])) {
            $slot = [];
            foreach ($description['map'] as [$key, $item]) {
                $this->buildItem($item, $slot, Bytes::string($key));
            }
        } elseif (isset($description['id'])) {
            $this->buildInto($description['is'], $slot, $description['id']);
        } elseif (isset($description['object'])) {
            $slot = (new ReflectionClass(Bytes::string($description['object'])))->newInstanceWithoutConstructor();
            $this->objects[$id ?? ''] = $slot;
            foreach ($description['is']['map'] ?? $description['is'] as [$key, $item]) {
                $this->setProperty($slot, (string) Bytes::string($key), $item);
            }
        } elseif (isset($description['deep'])) {
            [$levels, $kind, $inner] = $description['deep'];
            $this->buildInto($inner, $slot);
            for ($level = 0; $level < $levels; $level++) {
                $slot = $kind === 'list' ? [$slot] : ['a' => $slot];
            }
        } else {
            $slot = match (array_key_first($description)) {
                'same' => $this->objects[$description['same']],
                'int' => (int) $description['int'],
                'float' => $description['float'] === 'nan' ? NAN : unpack('E', hex2bin($description['float']))[1],
                'enum' => constant(str_replace(':', '::', $description['enum'])),
                'text', 'bytes' => Bytes::string($description),
                'code' => fn () => 1,
                default => throw new Mismatch('PHP has no ' . implode(' ', array_keys($description))),
            };
        }
    }

    private function buildItem(mixed $description, array &$array, int|string $key): void
    {
        if (isset($description['alias'])) {
            $array[$key] = &$this->variables[$description['alias']];
            return;
        }
        $array[$key] = null;
        if (isset($description['var'])) {
            $this->variables[$description['var']] = &$array[$key];
            $description = $description['is'];
        }
        $this->buildInto($description, $array[$key]);
    }

    // A mangled name contains the visibility: \0*\0name, \0Class\0name. The value is built in an array
    // first, because it may be a variable that is in other places too.
    private function setProperty(object $object, string $mangledName, mixed $description): void
    {
        $parts = explode("\0", $mangledName);
        $name = end($parts);
        $class = count($parts) === 3 && $parts[1] !== '*' ? $parts[1] : $object::class;
        $box = [];
        $this->buildItem($description, $box, 0);
        (function () use ($name, &$box) {
            if (ReflectionReference::fromArrayElement($box, 0)) {
                $this->$name = &$box[0];
            } else {
                $this->$name = $box[0];
            }
        })->bindTo($object, $class === 'stdClass' ? null : $class)();
    }
}
