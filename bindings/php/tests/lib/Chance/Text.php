<?php
// Serialized text as a tree, which can be changed and printed with correct lengths and counts. So
// the changed text differs in its content, and is still well-formed in most cases.
//
//   $tree = Text::parse($text);    null if the text can't be parsed
//   Text::change($tree);
//   $text = Text::print($tree);

declare(strict_types=1);

final class Text
{
    private int $offset = 0;

    private function __construct(private readonly string $text)
    {
    }

    public static function parse(string $text): ?array
    {
        $parser = new self($text);
        try {
            $tree = $parser->parseNode();
            return $parser->offset === strlen($text) ? $tree : null;
        } catch (UnexpectedValueException) {
            return null;
        }
    }

    private function match(string $pattern): array
    {
        if (!preg_match("~$pattern~A", $this->text, $found, 0, $this->offset)) {
            throw new UnexpectedValueException;
        }
        $this->offset += strlen($found[0]);
        return $found;
    }

    private function parseString(): string
    {
        $length = (int) $this->match('(\d+):"')[1];
        $bytes = substr($this->text, $this->offset, $length);
        $this->offset += $length;
        $this->match('"');
        return $bytes;
    }

    private function parseNode(): array
    {
        $kind = $this->match('[NbidrRsaOCE]')[0];
        if ($kind === 'N') {
            $this->match(';');
            return ['kind' => 'N'];
        }
        $this->match(':');
        if (str_contains('bidrR', $kind)) {
            return ['kind' => $kind, 'raw' => $this->match('([^;]*);')[1]];
        }
        if ($kind === 's' || $kind === 'E') {
            $node = ['kind' => $kind, 'bytes' => $this->parseString()];
            $this->match(';');
            return $node;
        }
        $node = ['kind' => $kind] + ($kind === 'a' ? [] : ['class' => $this->parseString()]);
        if ($kind !== 'a') {
            $this->match(':');
        }
        $count = (int) $this->match('(\d+):\{')[1];
        if ($kind === 'C') {
            $node['payload'] = substr($this->text, $this->offset, $count);
            $this->offset += $count;
        } else {
            $node += ['keys' => [], 'items' => [], 'countError' => 0];
            for ($n = 0; $n < $count; $n++) {
                $node['keys'][] = $this->parseNode();
                $node['items'][] = $this->parseNode();
            }
        }
        $this->match('\}');
        return $node;
    }

    public static function print(array $node): string
    {
        $bytes = fn (string $text) => strlen($text) . ":\"$text\"";
        switch ($node['kind']) {
            case 'N':
                return 'N;';
            case 's':
            case 'E':
                return "$node[kind]:" . $bytes($node['bytes']) . ';';
            case 'C':
                return 'C:' . $bytes($node['class']) . ':' . strlen($node['payload']) . ":{{$node['payload']}}";
            case 'a':
            case 'O':
                $text = $node['kind'] . ':' . (isset($node['class']) ? $bytes($node['class']) . ':' : '')
                    . (count($node['keys']) + $node['countError']) . ':{';
                foreach ($node['keys'] as $n => $key) {
                    $text .= self::print($key) . self::print($node['items'][$n]);
                }
                return "$text}";
        }
        return "$node[kind]:$node[raw];";
    }

    // Adds references to a node and to all nodes in it.
    private static function collectNodes(array &$node, array &$nodes): void
    {
        $nodes[] = &$node;
        foreach ($node['items'] ?? [] as $n => $_) {
            self::collectNodes($node['items'][$n], $nodes);
        }
    }

    // Makes a random change.
    public static function change(array &$tree, array $classes): void
    {
        $nodes = [];
        self::collectNodes($tree, $nodes);
        $node = &$nodes[Rng::below(count($nodes))];
        $isContainer = isset($node['keys']);
        $n = $isContainer && $node['keys'] ? Rng::below(count($node['keys'])) : null;
        $kinds = ['value' => 6, 'link' => 3] + ($isContainer ? ['count' => 1] : [])
            + (isset($node['class']) ? ['class' => 8, 'form' => 2] : [])
            + ($n !== null ? ['repeat' => 4, 'remove' => 4, 'key' => 8, 'swap' => 2] : []);
        switch (Rng::weighted($kinds)) {
            case 'value':
                $node = self::parse(Rng::pick(['i:5;', 'i:-1;', 'd:1.5;', 'd:INF;', 'b:1;', 'b:2;', 'N;',
                    's:3:"abc";', 's:0:"";', 'a:0:{}', 'a:1:{i:0;i:1;}', 'O:8:"stdClass":0:{}',
                    'O:11:"ArrayObject":0:{}', 'E:11:"Suit:Hearts";', 'E:9:"Suit:Gone";', 'E:8:"Level:Hi";',
                    'E:9:"Level:Top";', 'E:8:"stdClass";', 'E:10:"No:Nothing";', 'E:12:"stdClass:One";',
                    'i:99999999999999999999;', 'd:1e999;', 'O:8:"DateTime":0:{}', 'O:7:"Closure":0:{}']));
                break;
            case 'link':
                $node = ['kind' => Rng::pick(['r', 'R']), 'raw' => (string) (Rng::below(count($nodes) + 3))];
                break;
            case 'count':
                $node['countError'] = Rng::pick([-1, 1, 2, 1000]);
                break;
            case 'class':
                $node['class'] = Rng::pick([...$classes, ...$classes, 'stdClass', 'Missing', 'STDCLASS',
                    'CannotBeMade', 'NoClass', 'NoClassEither', 'Suit', 'Closure', 'Generator', 'ArrayObject',
                    'SplObjectStorage', 'SplFixedArray', 'DateTime', 'DateInterval', 'WeakMap', 'ReflectionClass', '',
                    '\\stdClass', 'a b', '__PHP_Incomplete_Class', 'Exception', 'SplDoublyLinkedList', 'SplMinHeap',
                    'WithState']);
                break;
            case 'form':
                $node = Rng::pick([['kind' => 'C', 'class' => $node['class'], 'payload' => 'x'],
                    ['kind' => 'O', 'class' => $node['class'], 'keys' => [], 'items' => [], 'countError' => 0],
                    ['kind' => 'E', 'bytes' => $node['class'] . ':One']]);
                break;
            case 'repeat':
                $node['keys'][] = $node['keys'][$n];
                $node['items'][] = Rng::oneIn(2) ? $node['items'][$n] : ['kind' => 'i', 'raw' => '77'];
                break;
            case 'remove':
                array_splice($node['keys'], $n, 1);
                array_splice($node['items'], $n, 1);
                break;
            case 'swap':
                $other = Rng::below(count($node['keys']));
                [$node['keys'][$n], $node['keys'][$other]] = [$node['keys'][$other], $node['keys'][$n]];
                break;
            case 'key':
                $name = Rng::pick(['p', 'q', 'r', 's', 't']);
                $class = Rng::pick([...$classes, 'Missing']);
                $node['keys'][$n] = Rng::pick([
                    ['kind' => 's', 'bytes' => $name], ['kind' => 's', 'bytes' => "\0*\0$name"],
                    ['kind' => 's', 'bytes' => "\0$class\0$name"], ['kind' => 'i', 'raw' => '0'],
                    ['kind' => 'i', 'raw' => '7'],
                    ['kind' => 's', 'bytes' => ''], ['kind' => 's', 'bytes' => "\0"],
                        ['kind' => 's', 'bytes' => "\0*"], ['kind' => 's', 'bytes' => "\0\0x"],
                        ['kind' => 's', 'bytes' => '5'], ['kind' => 'N'], ['kind' => 'd', 'raw' => '1.5'],
                ]);
                break;
        }
    }

    // Returns trees that are a step smaller.
    public static function reductions(array $tree): iterable
    {
        yield from $tree['items'] ?? [];
        foreach ($tree['items'] ?? [] as $n => $item) {
            $without = $tree;
            array_splice($without['keys'], $n, 1);
            array_splice($without['items'], $n, 1);
            yield $without;
            foreach (self::reductions($item) as $reduced) {
                $with = $tree;
                $with['items'][$n] = $reduced;
                yield $with;
            }
        }
        if (strlen($tree['bytes'] ?? '') > 20 && $tree['kind'] === 's') {
            yield ['bytes' => 'a'] + $tree;
        }
    }
}
