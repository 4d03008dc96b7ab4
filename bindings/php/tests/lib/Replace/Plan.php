<?php
// Plans of random values. A plan is rendered twice: with the original texts, and with the replaced
// ones. Both are frozen by PHP itself, each text in a text by its own function, so the expected
// result of replacing is known without looking into any bytes.

declare(strict_types=1);

namespace Replace;

use Dice;

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

/** A node of a plan: its kind and its contents. */
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
    private int $left;
    private int $objects = 0;
    private int $variables = 0;
    /** Number of JSON texts around the values that are being made. */
    private int $around = 0;

    /** `isUtf8`: all texts are UTF-8, so that JSON can express them. */
    public function __construct(private readonly array $words, private readonly bool $isUtf8, private readonly bool $hasBase64)
    {
        $this->left = Dice::pick([5, 30, 200]);
        $this->root = $this->node(0, false);
    }

    private function node(int $depth, bool $inJson): Node
    {
        if (--$this->left < 0 || $depth > 12) {
            return $this->text();
        }
        $kind = Dice::weighted(['text' => 40, 'scalar' => 15, 'list' => 14, 'map' => 14, 'php' => 12, 'json' => $this->isUtf8 ? 10 : 0,
            'object' => $inJson ? 0 : 8, 'std' => $inJson ? 0 : 4, 'again' => $inJson ? 0 : 3, 'variable' => $inJson ? 0 : 3,
            'own' => $inJson ? 0 : 2, 'enum' => $inJson ? 0 : 1, // Base64 has slashes, which JSON writes in two ways.
            'base64' => $this->hasBase64 && $this->around === 0 ? 5 : 0]);
        $few = Dice::below(Dice::one(20) ? 30 : 5);
        return match ($kind) {
            'text' => $this->text(),
            'scalar' => new Node('scalar', value: self::scalar($inJson)),
            'list', 'map', 'std' => new Node($kind, $this->several($few, $depth, $inJson)),
            // A document of its own: links do not leave it.
            'php' => $this->apart(fn () => new Node('php', [$this->node($depth + 1, false)])),
            'json' => $this->apart(fn () => $this->json($few + 1, $depth)),
            'base64' => $this->apart(fn () => new Node('base64', [new Node('list', $this->several($few + 1, $depth, false))])),
            'object' => new Node('object', [$this->node($depth + 1, false), $this->node($depth + 1, false), $this->node($depth + 1, false)], $this->objects++),
            'own' => new Node('own', [$this->text()]),
            'enum' => new Node('scalar', value: Dice::pick(OldSuit::cases())),
            'again' => $this->objects ? new Node('again', value: Dice::below($this->objects)) : $this->text(),
            'variable' => new Node('variable', [$this->text()], $this->variables++),
        };
    }

    private function json(int $count, int $depth): Node
    {
        $this->around++;
        $inner = new Node(Dice::pick(['list', 'map']), $this->several($count, $depth, true));
        $this->around--;
        return new Node('json', [$inner], Dice::pick([0, JSON_UNESCAPED_SLASHES, JSON_PRETTY_PRINT, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE]));
    }

    private function apart(callable $make): Node
    {
        [$objects, $variables] = [$this->objects, $this->variables];
        $this->objects = $this->variables = 0;
        $node = $make();
        [$this->objects, $this->variables] = [$objects, $variables];
        return $node;
    }

    private function several(int $count, int $depth, bool $inJson): array
    {
        $parts = [];
        for ($i = 0; $i < $count; $i++) {
            $parts[] = $this->node($depth + 1, $inJson);
        }
        return $parts;
    }

    private static function scalar(bool $inJson): mixed
    {
        return Dice::pick($inJson ? [null, true, false, 0, -7, 123456789, 1.5, -0.25] : [null, true, false, 0, -7, PHP_INT_MAX, 1.5, 0.1 + 0.2, -0.0, 1e100, INF]);
    }

    private function text(): Node
    {
        $text = '';
        for ($i = Dice::pick([0, 1, 1, 2, 3, 5, 60]); $i > 0; $i--) {
            $text .= Dice::pick($this->words);
        }
        return new Node('text', value: $text);
    }

    /** Returns the value. `change` replaces each text, `changeKey` each key. */
    public function render(callable $change, callable $changeKey, bool $isRenamed): mixed
    {
        return (new Rendering($change, $changeKey, $isRenamed))->root($this->root);
    }
}

final class Rendering
{
    private array $objects = [];
    private array $variables = [];

    public function __construct(private readonly mixed $change, private readonly mixed $changeKey, private readonly bool $isRenamed)
    {
    }

    public function root(Node $node): mixed
    {
        return $this->value($node);
    }

    private function apart(Node $node): mixed
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
                return serialize($this->apart($node->parts[0]));
            case 'json':
                return json_encode($this->apart($node->parts[0]), $node->value | JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION);
            case 'base64':
                return base64_encode(serialize($this->apart($node->parts[0])));
            case 'object':
                $object = $this->objects[$node->value] = $this->isRenamed ? new RenamedThing() : new OldThing();
                return $object->fill(...array_map($this->value(...), $node->parts));
            case 'own':
                return new OldText($this->value($node->parts[0]));
            case 'again':
                return $this->objects[$node->value] ?? null;
            case 'variable':
                return $this->value($node->parts[0]);
        }
    }

    /** Returns the place of a value; a variable that is in several places has only one. */
    private function &slot(Node $node): mixed
    {
        if ($node->kind === 'variable') {
            // Each variable is in at least two places: it is requested again below.
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
