<?php
// A cache of many small objects, with each kind of hook that a class may have. It is written by
// serialize, and as a PHP program by var_export. It is read back by unserialize, by require, and by
// var_import, which runs no code.

use function Icecore\serialize;
use function Icecore\unserialize;
use function Icecore\var_export;
use function Icecore\var_import;

final class Leaf
{
    public function __construct(public readonly int $number, public readonly string $text)
    {
    }

    public static function __set_state(array $state): self
    {
        return new self($state['number'], $state['text']);
    }
}

/** The properties of all kinds of trees, which differ only in their hooks. */
trait Tree
{
    public function __construct(
        protected ?Leaf $leaf = null,
        private ?self $deeper = null,
        public array $list = [],
        public array $keyed = [],
    ) {
    }

    public static function grow(int $depth, int $leaf_count): self
    {
        $leaves = array_map(fn ($i) => new Leaf($i, "leaf $i"), range(1, $leaf_count));
        $keyed = array_combine(array_map(fn ($leaf) => "key {$leaf->number}", $leaves), $leaves);
        return new self($leaves[0], $depth > 0 ? self::grow($depth - 1, $leaf_count) : null, $leaves, $keyed);
    }

    public static function __set_state(array $state): self
    {
        return new self($state['leaf'], $state['deeper'], $state['list'], $state['keyed']);
    }
}

class Plain
{
    use Tree;
}

class WithUnserialize
{
    use Tree;

    public function __serialize(): array
    {
        return [$this->leaf, $this->deeper, $this->list, $this->keyed];
    }

    public function __unserialize(array $data): void
    {
        [$this->leaf, $this->deeper, $this->list, $this->keyed] = $data;
    }
}

class WithSleep
{
    use Tree;

    public bool $is_awake = false;

    public function __sleep(): array
    {
        return ['leaf', 'deeper', 'list', 'keyed'];
    }

    public function __wakeup(): void
    {
        $this->is_awake = true;
    }
}

// Old programs have classes with Serializable only, for which PHP issues a deprecation.
error_reporting(E_ALL & ~E_DEPRECATED);
if (!class_exists('WithSerializable')) {
    class WithSerializable implements Serializable
    {
        use Tree;

        public function serialize(): ?string
        {
            return serialize([$this->leaf, $this->deeper, $this->list, $this->keyed]);
        }

        public function unserialize(string $data): void
        {
            [$this->leaf, $this->deeper, $this->list, $this->keyed] = unserialize($data,
                ['classes' => [self::class, Leaf::class]]);
        }
    }
}

$file = tempnam(sys_get_temp_dir(), 'tree');
foreach ([Plain::class, WithUnserialize::class, WithSleep::class, WithSerializable::class] as $class) {
    $tree = $class::grow(20, 5);
    $classes = [$class, Leaf::class];

    $text = serialize($tree);
    $read = unserialize($text, ['classes' => $classes]);
    printf("%-17s %d bytes by serialize, as PHP's: %s; read: %s\n", "$class:", strlen($text),
        $text === \serialize($tree) ? 'yes' : 'no', \serialize($read) === $text ? 'the same' : 'another');

    // A program may be cached by opcache, but anyone who can write it can run any code.
    $program = var_export($tree, true);
    file_put_contents($file, "<?php return $program;\n");
    $required = require $file;
    $imported = var_import(file_get_contents($file), ['classes' => $classes]);
    printf("%-17s %d bytes by var_export, as PHP's: %s; by require: %s; by var_import: %s\n", '', strlen($program),
        $program === \var_export($tree, true) ? 'yes' : 'no', $required == $tree ? 'the same'
        : 'another', $imported == $tree ? 'the same' : 'another');
}
unlink($file);
