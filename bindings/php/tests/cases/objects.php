<?php
// The object model: visibility, types, hooks, and errors in them.

declare(strict_types=1);

// Serialized text, with names of the case's own classes and correct lengths.
$text = fn (string $class, string $members) => "'O:' . strlen('$class') . ':\"$class\":' . $members";
$declared = [
    'public $a; public $b = 2;', 'protected $a = 1; private $b = 2;', 'public int $a = 1; public ?string $b;', 'public readonly int $a;', 'protected readonly ?array $a; public $b = 1;',
    'public int|string $a; public float $b = 1.5;', 'public ?self $a = null;', 'public array $a = []; public static $b = 3;', 'public iterable $a = []; private bool $b = true;', 'public mixed $a; public object $b;',
    'public string $a = "x"; public int $b = 0;', 'private readonly int $a;',
];
$members = [
    '0 members' => '\'0:{}\'', 'an integer' => '\'1:{s:1:"a";i:5;}\'', 'text' => '\'1:{s:1:"a";s:1:"t";}\'', 'digits' => '\'1:{s:1:"a";s:1:"5";}\'', 'null' => '\'1:{s:1:"a";N;}\'', 'a float' => '\'1:{s:1:"a";d:5;}\'', 'an array' => '\'1:{s:1:"a";a:1:{i:0;i:1;}}\'', 'an object' => '\'1:{s:1:"a";O:8:"stdClass":0:{}}\'', 'itself' => '\'1:{s:1:"a";r:1;}\'',
    'a reference to itself' => '\'1:{s:1:"a";R:1;}\'', 'two references' => '\'2:{s:1:"a";i:1;s:1:"b";R:2;}\'', 'two references of text' => '\'2:{s:1:"a";s:1:"x";s:1:"b";R:2;}\'', 'twice' => '\'2:{s:1:"a";i:1;s:1:"a";i:2;}\'', 'protected' => '"1:{s:4:\"\0*\0a\";i:5;}"', 'private' => '"1:{s:8:\"\0Q_A\0a\";i:5;}"', 'private of no class' => '"1:{s:7:\"\0No_\0a\";i:5;}"',
    'dynamic' => '\'1:{s:3:"new";i:5;}\'', 'a key of digits' => '\'1:{s:1:"7";i:5;}\'', 'an integer key' => '\'1:{i:7;i:5;}\'', 'an empty name' => '\'1:{s:0:"";i:5;}\'', 'a name that begins with NUL' => '"1:{s:1:\"\0\";i:5;}"', 'a count that is too small' => '\'0:{s:1:"a";i:5;}\'', 'a count that is too big' => '\'1:{}\'', 'true for the second' => '\'2:{s:1:"a";i:5;s:1:"b";b:1;}\'',
];
$cases = [];
foreach ($declared as $declaration) {
    foreach ($members as $name => $body) {
        $body = preg_replace('/s:8:\\\\"\\\\0Q_A/', 's:" . (strlen("Q_A") + 3) . ":\\"\\0Q_A', $body);
        $cases["$declaration from $name"] = "class Q_A { $declaration } \$try(fn () => \$u({$text('Q_A', $body)}));";
    }
    $cases["$declaration written"] = "class Q_A { $declaration function __construct() { try { \$this->a = 1; } catch (TypeError) {} } } \$say(\$s(new Q_A)); \$say(\$s((new ReflectionClass('Q_A'))->newInstanceWithoutConstructor()));";
}
$sleeps = ['["a", "b"]', '["b"]', '[]', '["a", "a"]', '["none"]', '["a", "none", "b"]', 'null', '"a"', '5', '[5]', '[null]', '[["a"]]', '["x" => "a"]', '["c"]', '["\0*\0b"]', '["\0Q_P\0p"]', '["p"]', 'array_keys(get_object_vars($this))', 'throw new Exception("no")'];
foreach ($sleeps as $sleep) {
    $return = str_starts_with($sleep, 'throw') ? $sleep : "return $sleep";
    $cases["__sleep returns $sleep"] = "class Q_P { private \$p = 1; } class Q_A extends Q_P { public \$a = 1; protected \$b = 2; private \$c = 3; public int \$d; function __sleep() { Outcome::record('sleep'); $return; } } \$try(fn () => \$s([new Q_A, 1])); \$try(fn () => \$s((object) ['in' => new Q_A]));";
}
$results = ['[1, 2]', '["a" => 1]', '[]', 'null', '"x"', '(object) []', '["self" => $this]', '[5 => 1, "5" => 2]', 'throw new Exception("no")', 'get_object_vars($this)'];
foreach ($results as $result) {
    $return = str_starts_with($result, 'throw') ? $result : "return $result";
    $cases["__serialize returns $result"] = "class Q_A { public \$a = 1; private \$b = 2; function __serialize() { Outcome::record('gives'); $return; } function __unserialize(array \$d): void { Outcome::record('takes'); \$this->a = \$d; } } \$try(function () use (\$s, \$u) { \$text = \$s([\$o = new Q_A, \$o]); Outcome::record(\$text); return \$u(\$text); });";
    $cases["__serialize returns $result, without __unserialize"] = "class Q_A { public \$a = 1; private \$b = 2; function __serialize() { $return; } } \$try(function () use (\$s, \$u) { return \$u(\$s(new Q_A)); });";
}
$wakes = ['', '$this->a = 7;', 'throw new Exception("no");', 'throw new Error("no");', '$this->new = 1;', 'unset($this->a);', 'Implementation::current()->unserialize("a:1:{i:0;i:1;}");', 'Outcome::record(Implementation::current()->serialize($this));', 'gc_collect_cycles();', 'Implementation::current()->unserialize("broken");'];
foreach ($wakes as $wake) {
    $cases["__wakeup does $wake"] = "#[AllowDynamicProperties] class Q_A { public \$a = 1; public \$n; function __wakeup() { Outcome::record('wakes ' . \$this->n); $wake } function __destruct() { Outcome::record('dies ' . \$this->n); } } \$make = function (\$n) { \$o = new Q_A; \$o->n = \$n; return \$o; }; \$text = \$s([\$make(1), [\$make(2)], \$make(3)]); \$try(fn () => \$u(\$text));";
    $cases["__unserialize does $wake"] = "#[AllowDynamicProperties] class Q_A { public \$a = 1; public \$n; function __serialize(): array { return ['n' => \$this->n]; } function __unserialize(array \$d): void { \$this->n = \$d['n'] ?? null; Outcome::record('takes ' . json_encode(\$d)); $wake } function __destruct() { Outcome::record('dies ' . json_encode(\$this->n)); } } \$make = function (\$n) { \$o = new Q_A; \$o->n = \$n; return \$o; }; \$text = \$s([\$make(1), \$make([\$make(2)]), \$make(3)]); \$try(fn () => \$u(\$text));";
}
foreach (['return "x";', 'return "";', 'return null;', 'return 5;', 'throw new Exception("no");', 'return Implementation::current()->serialize([1, $this->a]);'] as $payload) {
    $cases["Serializable: $payload"] = "class Q_A implements Serializable { public \$a = 'a'; function serialize() { Outcome::record('gives'); $payload } function unserialize(\$d) { Outcome::record('takes ' . \$d); } } \$try(function () use (\$s, \$u) { \$text = \$s([new Q_A, 1]); Outcome::record(\$text); return \$u(\$text); });";
    $cases["Serializable and __serialize: $payload"] = "class Q_A implements Serializable { public \$a = 'a'; function __serialize(): array { Outcome::record('new'); return [1]; } function __unserialize(array \$d): void { Outcome::record('new takes'); } function serialize() { Outcome::record('gives'); $payload } function unserialize(\$d) { Outcome::record('takes ' . \$d); } } \$try(function () use (\$s, \$u) { \$text = \$s([new Q_A, 1]); Outcome::record(\$text); return \$u(\$text); }); \$try(fn () => \$u('C:' . strlen('Q_A') . ':\"Q_A\":1:{x}'));";
}
$cases['C: of a class without Serializable'] = 'class Q_A { public $a; } $try(fn () => $u(\'C:\' . strlen(\'Q_A\') . \':"Q_A":1:{x}\'));';
$cases['hooks run in order after the whole text was read'] = 'class Q_A { public $n; public $in; function __construct($n, $in = null) { $this->n = $n; $this->in = $in; } function __wakeup() { Outcome::record("wakes $this->n"); } } class Q_B { public $d; function __construct($d) { $this->d = $d; } function __serialize(): array { return [$this->d]; } function __unserialize(array $d): void { $this->d = $d; Outcome::record("takes " . get_debug_type($d[0])); } } $show($u($s([new Q_A(1, new Q_A(2)), new Q_B(new Q_A(3)), new Q_A(4, new Q_B(new Q_B(5)))])));';
$cases['a parent with a private property of the same name'] = 'class Q_P { private $a = 1; protected $b = 2; } class Q_A extends Q_P { private $a = 3; public $b = 4; } $say($s(new Q_A)); $show($u($s(new Q_A)));';
$cases["an unset property"] = 'class Q_A { public $a = 1; public int $b = 2; } $o = new Q_A; unset($o->a, $o->b); $say($s($o)); $show($u($s($o)));';
$cases['a typed reference'] = 'class Q_A { public int $a = 1; } $o = new Q_A; $v = [$o, &$o->a]; $copy = $u($s($v)); $show($copy); $copy[1] = 5; $say($copy[0]->a);';
$cases['two properties of different types share a variable'] = 'class Q_A { public int $a = 1; public float $b = 1.5; } $try(fn () => $u(\'O:\' . strlen("Q_A") . \':"Q_A":2:{s:1:"a";i:1;s:1:"b";R:2;}\'));';
return $cases;
