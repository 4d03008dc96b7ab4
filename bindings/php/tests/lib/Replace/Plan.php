<?php
// Plans of random values. A plan is rendered twice: with the original texts, and with the replaced
// ones. Both are frozen by PHP itself, each text in a text by its own function, so the expected
// result of replacing is known without looking into any bytes.

declare(strict_types=1);

namespace Replace;

use Rng;

class OldThing
{
    public mixed $a = null;
    protected mixed $b = null;
    private mixed $c = null;
    public ?OldThing $next = null;

    public function fill(mixed $a, mixed $b, mixed $c): static
    {
        [$this->a, $this->b, $this->c] = [$a, $b, $c];
        return $this;
    }
}

// The new name of the other class, if names of classes are changed.
class RenamedThing
{
    public mixed $a = null;
    protected mixed $b = null;
    private mixed $c = null;
    public ?RenamedThing $next = null;

    public function fill(mixed $a, mixed $b, mixed $c): static
    {
        [$this->a, $this->b, $this->c] = [$a, $b, $c];
        return $this;
    }
}

final class OldText implements \Serializable
{
    public function __construct(public string $text = '')
    {
    }

    public function serialize(): string
    {
        return $this->text;
    }

    public function unserialize(string $data): void
    {
        $this->text = $data;
    }

    public function __serialize(): array
    {
        return ['text' => $this->text];
    }

    public function __unserialize(array $data): void
    {
        $this->text = $data['text'];
    }
}

enum OldSuit: string
{
    case Hearts = 'old';
    case Spades = 'x';
}

/** A node of a plan: the kind of a value, and its content. */
final class Node
{
    public function __construct(public string $kind, public array $parts = [], public mixed $value = null)
    {
    }
}

final class Plan
{
    public Node $root;
    /** Number of values that may still be made. */
    private int $remaining;
    private int $objects = 0;
    private int $variables = 0;
    /** Number of JSON texts around the value that is being made. */
    private int $jsonDepth = 0;

    /** `isUtf8` means that all texts are UTF-8, so JSON can express them. */
    public function __construct(private readonly array $words, private readonly bool $isUtf8,
        private readonly bool $hasBase64)
    {
        $this->remaining = Rng::pick([5, 30, 200]);
        $this->root = $this->makeNode(0, false);
    }

    private function makeNode(int $depth, bool $inJson): Node
    {
        if (--$this->remaining < 0 || $depth > 12) {
            return $this->textNode();
        }
        $kind = Rng::weighted(['text' => 40, 'scalar' => 15, 'list' => 14, 'map' => 14, 'php' => 12,
            'json' => $this->isUtf8 ? 10 : 0,
            'object' => $inJson ? 0 : 8, 'std' => $inJson ? 0 : 4, 'same object' => $inJson ? 0 : 3,
            'variable' => $inJson ? 0 : 3, 'Serializable' => $inJson ? 0 : 2, 'enum' => $inJson ? 0 : 1,
            // Base64 has slashes, which JSON writes in two ways.
            'base64' => $this->hasBase64 && $this->jsonDepth === 0 ? 5 : 0]);
        $count = Rng::below(Rng::oneIn(20) ? 30 : 5);
        return match ($kind) {
            'text' => $this->textNode(),
            'scalar' => new Node('scalar', value: self::scalar($inJson)),
            'list', 'map', 'std' => new Node($kind, $this->nodes($count, $depth, $inJson)),
            // These are documents of their own, so links do not leave them.
            'php' => $this->separateDocument(fn () => new Node('php', [$this->makeNode($depth + 1, false)])),
            'json' => $this->separateDocument(fn () => $this->jsonNode($count + 1, $depth)),
            'base64' => $this->separateDocument(fn () =>
                new Node('base64', [new Node('list', $this->nodes($count + 1, $depth, false))])),
            'object' => new Node('object',
                [$this->makeNode($depth + 1, false), $this->makeNode($depth + 1, false),
                $this->makeNode($depth + 1, false)], $this->objects++),
            'Serializable' => new Node('Serializable', [$this->textNode()]),
            'enum' => new Node('scalar', value: Rng::pick(OldSuit::cases())),
            'same object' => $this->objects
                ? new Node('same object', value: Rng::below($this->objects)) : $this->textNode(),
            'variable' => new Node('variable', [$this->textNode()], $this->variables++),
        };
    }

    private function jsonNode(int $count, int $depth): Node
    {
        $this->jsonDepth++;
        $inner = new Node(Rng::pick(['list', 'map']), $this->nodes($count, $depth, true));
        $this->jsonDepth--;
        return new Node('json', [$inner],
            Rng::pick([0, JSON_UNESCAPED_SLASHES, JSON_PRETTY_PRINT,
                JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE]));
    }

    private function separateDocument(callable $make): Node
    {
        [$objects, $variables] = [$this->objects, $this->variables];
        $this->objects = $this->variables = 0;
        $node = $make();
        [$this->objects, $this->variables] = [$objects, $variables];
        return $node;
    }

    private function nodes(int $count, int $depth, bool $inJson): array
    {
        $parts = [];
        for ($i = 0; $i < $count; $i++) {
            $parts[] = $this->makeNode($depth + 1, $inJson);
        }
        return $parts;
    }

    private static function scalar(bool $inJson): mixed
    {
        return Rng::pick($inJson
            ? [null, true, false, 0, -7, 123456789, 1.5, -0.25]
            : [null, true, false, 0, -7, PHP_INT_MAX, 1.5, 0.1 + 0.2, -0.0, 1e100, INF]);
    }

    private function textNode(): Node
    {
        $text = '';
        for ($i = Rng::pick([0, 1, 1, 2, 3, 5, 60]); $i > 0; $i--) {
            $text .= Rng::pick($this->words);
        }
        return new Node('text', value: $text);
    }

    /** Returns the value. `change` is applied to each text, `changeKey` to each key. */
    public function render(callable $change, callable $changeKey, bool $isRenamed): mixed
    {
        return (new Rendering($change, $changeKey, $isRenamed))->root($this->root);
    }
}

final class Rendering
{
    private array $objects = [];
    private array $variables = [];

    public function __construct(private readonly mixed $change, private readonly mixed $changeKey,
        private readonly bool $isRenamed)
    {
    }

    public function root(Node $node): mixed
    {
        return $this->value($node);
    }

    private function separateDocument(Node $node): mixed
    {
        return (new Rendering($this->change, $this->changeKey, $this->isRenamed))->root($node);
    }

    private function key(int $i): string
    {
        return ($this->changeKey)("key$i old");
    }

    private function value(Node $node): mixed
    {
        switch ($node->kind) {
            case 'text':
                return ($this->change)($node->value);
            case 'scalar':
                return $node->value;
            case 'list':
                $list = [];
                foreach ($node->parts as $part) {
                    $list[] = &$this->slot($part);
                }
                return $list;
            case 'map':
                $map = [];
                foreach ($node->parts as $i => $part) {
                    $map[$this->key($i)] = &$this->slot($part);
                }
                return $map;
            case 'std':
                $object = new \stdClass();
                foreach ($node->parts as $i => $part) {
                    $object->{$this->key($i)} = &$this->slot($part);
                }
                return $object;
            case 'php':
                return serialize($this->separateDocument($node->parts[0]));
            case 'json':
                return json_encode($this->separateDocument($node->parts[0]),
                    $node->value | JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION);
            case 'base64':
                return base64_encode(serialize($this->separateDocument($node->parts[0])));
            case 'object':
                $object = $this->objects[$node->value] = $this->isRenamed ? new RenamedThing() : new OldThing();
                return $object->fill(...array_map($this->value(...), $node->parts));
            case 'Serializable':
                return new OldText($this->value($node->parts[0]));
            case 'same object':
                return $this->objects[$node->value] ?? null;
            case 'variable':
                return $this->value($node->parts[0]);
        }
    }

    /** Returns a reference to the value of a node. All places of a variable get the same reference. */
    private function &slot(Node $node): mixed
    {
        if ($node->kind === 'variable') {
            // Each variable gets at least two places: see below.
            $this->variables[$node->value] ??= $this->value($node);
            return $this->variables[$node->value];
        }
        if ($node->kind === 'scalar' && $this->variables && $node->value === true) {
            return $this->variables[array_key_first($this->variables)];
        }
        $value = $this->value($node);
        return $value;
    }
}
