<?php
// The classes of the scenario php-objects: a leaf is a readonly int and a string,
// the tree has a leaf, a recursion, and a list and a dictionary of leaves.
//
// LAB_VARIANT says how they are written. It is set before this file is loaded. The names of
// classes and properties stay the same, so every variant carries the same value:
//
//   typed        nothing but typed properties; this is what is used if nothing is said
//   untyped      properties without types, and so without readonly
//   manual       typed, with __serialize and __unserialize written by hand
//   constructor  typed, with a __set_state that calls the constructor
//   reflection   typed, with a __set_state that goes around the constructor

defined('LAB_VARIANT') || define('LAB_VARIANT', 'typed');

if (LAB_VARIANT === 'untyped') {
    final class Leaf
    {
        public $id;
        public $name;

        public function __construct($id, $name)
        {
            $this->id = $id;
            $this->name = $name;
        }
    }

    final class Deep
    {
        public $leaf;
        public $next;

        public function __construct($leaf, $next)
        {
            $this->leaf = $leaf;
            $this->next = $next;
        }
    }

    final class Tree
    {
        public $leaf;
        public $recursion;
        public $list;
        public $dictionary;

        public function __construct($leaf, $recursion, $list, $dictionary)
        {
            $this->leaf = $leaf;
            $this->recursion = $recursion;
            $this->list = $list;
            $this->dictionary = $dictionary;
        }
    }

    return;
}

if (LAB_VARIANT === 'manual') {
    trait LeafHooks
    {
        public function __serialize(): array
        {
            return ['id' => $this->id, 'name' => $this->name];
        }

        public function __unserialize(array $data): void
        {
            $this->id = $data['id'];
            $this->name = $data['name'];
        }
    }

    trait DeepHooks
    {
        public function __serialize(): array
        {
            return ['leaf' => $this->leaf, 'next' => $this->next];
        }

        public function __unserialize(array $data): void
        {
            $this->leaf = $data['leaf'];
            $this->next = $data['next'];
        }
    }

    trait TreeHooks
    {
        public function __serialize(): array
        {
            return [
                'leaf' => $this->leaf,
                'recursion' => $this->recursion,
                'list' => $this->list,
                'dictionary' => $this->dictionary,
            ];
        }

        public function __unserialize(array $data): void
        {
            $this->leaf = $data['leaf'];
            $this->recursion = $data['recursion'];
            $this->list = $data['list'];
            $this->dictionary = $data['dictionary'];
        }
    }
} elseif (LAB_VARIANT === 'constructor') {
    trait LeafHooks
    {
        public static function __set_state(array $state): self
        {
            return new self($state['id'], $state['name']);
        }
    }

    trait DeepHooks
    {
        public static function __set_state(array $state): self
        {
            return new self($state['leaf'], $state['next']);
        }
    }

    trait TreeHooks
    {
        public static function __set_state(array $state): self
        {
            return new self($state['leaf'], $state['recursion'], $state['list'], $state['dictionary']);
        }
    }
} elseif (LAB_VARIANT === 'reflection') {
    trait SetsState
    {
        public static function __set_state(array $state): self
        {
            $made = (new ReflectionClass(self::class))->newInstanceWithoutConstructor();
            foreach ($state as $name => $value) {
                $made->$name = $value;
            }
            return $made;
        }
    }

    trait LeafHooks
    {
        use SetsState;
    }

    trait DeepHooks
    {
        use SetsState;
    }

    trait TreeHooks
    {
        use SetsState;
    }
} else {
    trait LeafHooks
    {
    }

    trait DeepHooks
    {
    }

    trait TreeHooks
    {
    }
}

final class Leaf
{
    use LeafHooks;

    public function __construct(public readonly int $id, public readonly string $name)
    {
    }
}

final class Deep
{
    use DeepHooks;

    public function __construct(public Leaf $leaf, public ?Deep $next)
    {
    }
}

final class Tree
{
    use TreeHooks;

    public function __construct(
        public Leaf $leaf,
        public ?Deep $recursion,
        public array $list,
        public array $dictionary,
    ) {
    }
}
