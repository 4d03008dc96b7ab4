<?php
// Builds a value from a description, by PHP's own means.
//
//   $value = (new Builder)->build($description);

declare(strict_types=1);

final class Builder
{
    private array $objects = [];
    private array $variables = [];

    public function build(mixed $said): mixed
    {
        $root = [];
        $this->item($said, $root, 0);
        return $root[0];
    }

    private function put(mixed $said, mixed &$slot, ?int $id = null): void
    {
        if (!is_array($said)) {
            $slot = $said;
        } elseif (array_is_list($said)) {
            $slot = [];
            foreach ($said as $key => $item) {
                $this->item($item, $slot, $key);
            }
        } elseif (isset($said['map'])) {
            $slot = [];
            foreach ($said['map'] as [$key, $item]) {
                $this->item($item, $slot, Bytes::string($key));
            }
        } elseif (isset($said['id'])) {
            $this->put($said['is'], $slot, $said['id']);
        } elseif (isset($said['object'])) {
            $slot = (new ReflectionClass(Bytes::string($said['object'])))->newInstanceWithoutConstructor();
            $this->objects[$id ?? ''] = $slot;
            foreach ($said['is']['map'] ?? $said['is'] as [$key, $item]) {
                $this->member($slot, (string) Bytes::string($key), $item);
            }
        } elseif (isset($said['deep'])) {
            [$levels, $word, $inner] = $said['deep'];
            $this->put($inner, $slot);
            for ($level = 0; $level < $levels; $level++) {
                $slot = $word === 'list' ? [$slot] : ['a' => $slot];
            }
        } else {
            $slot = match (array_key_first($said)) {
                'same' => $this->objects[$said['same']],
                'int' => (int) $said['int'],
                'float' => $said['float'] === 'nan' ? NAN : unpack('E', hex2bin($said['float']))[1],
                'enum' => constant(str_replace(':', '::', $said['enum'])),
                'text', 'bytes' => Bytes::string($said),
                'code' => fn () => 1,
                default => throw new Part('PHP has no ' . implode(' ', array_keys($said))),
            };
        }
    }

    private function item(mixed $item, array &$array, int|string $key): void
    {
        if (isset($item['alias'])) {
            $array[$key] = &$this->variables[$item['alias']];
            return;
        }
        $array[$key] = null;
        if (isset($item['var'])) {
            $this->variables[$item['var']] = &$array[$key];
            $item = $item['is'];
        }
        $this->put($item, $array[$key]);
    }

    // The name contains the visibility: \0*\0name, \0Class\0name.
    private function member(object $object, string $key, mixed $item): void
    {
        $parts = explode("\0", $key);
        $name = end($parts);
        $class = count($parts) === 3 && $parts[1] !== '*' ? $parts[1] : $object::class;
        $box = [];
        $this->item($item, $box, 0);
        (function () use ($name, &$box) {
            if (ReflectionReference::fromArrayElement($box, 0)) {
                $this->$name = &$box[0];
            } else {
                $this->$name = $box[0];
            }
        })->bindTo($object, $class === 'stdClass' ? null : $class)();
    }
}
