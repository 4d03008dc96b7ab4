<?php
// Features since PHP 8.4: property hooks, asymmetric visibility, lazy objects.

declare(strict_types=1);

return [
    'a backed property with hooks' => 'class Q_A { public int $a = 1 { get { Outcome::record("get"); return $this->a * 2; } set { Outcome::record("set"); $this->a = $value; } } } $o = new Q_A; $say($s($o)); $show($u($s($o)));',
    'a virtual property' => 'class Q_A { public int $b = 1; public int $a { get => 5; } } $say($s(new Q_A)); $show($u($s(new Q_A))); $try(fn () => $u(\'O:\' . strlen("Q_A") . \':"Q_A":1:{s:1:"a";i:1;}\'));',
    'a virtual property of a child among others' => 'class Q_P { public int $a { get => 5; } protected string $v { get => "v"; } } class Q_A extends Q_P { public $b; } foreach (["1:{s:1:\\"a\\";i:1;}", "2:{s:1:\\"b\\";i:1;s:4:\\"\\0*\\0v\\";s:1:\\"x\\";}", "1:{s:1:\\"v\\";i:1;}"] as $body) { $try(fn () => $u("O:" . strlen("Q_A") . ":\\"Q_A\\":$body")); }',
    'a property that only the class may write' => 'class Q_A { public private(set) int $a = 1; protected(set) public readonly int $b; } $say($s(new Q_A)); $show($u(\'O:\' . strlen("Q_A") . \':"Q_A":2:{s:1:"a";i:5;s:1:"b";i:6;}\'));',
    'a lazy ghost' => 'class Q_A { public int $a; public $b = 2; } $o = (new ReflectionClass("Q_A"))->newLazyGhost(function ($o) { Outcome::record("made"); $o->a = 1; }); $say($s($o)); $show($u($s($o)));',
    'a lazy proxy' => 'class Q_A { public int $a = 0; } $o = (new ReflectionClass("Q_A"))->newLazyProxy(function () { Outcome::record("made"); $n = new Q_A; $n->a = 7; return $n; }); $say($s([$o, $o])); $show($u($s($o)));',
    'a lazy ghost that stays lazy' => 'class Q_A { public int $a; public $b = 2; } $o = (new ReflectionClass("Q_A"))->newLazyGhost(function ($o) { Outcome::record("made"); }, ReflectionClass::SKIP_INITIALIZATION_ON_SERIALIZE); $say($s($o)); $show((new ReflectionClass("Q_A"))->isUninitializedLazyObject($o));',
    'a lazy object whose initializer throws' => 'class Q_A { public int $a; } $o = (new ReflectionClass("Q_A"))->newLazyGhost(function () { throw new Exception("maker"); }); $try(fn () => $s([1, $o]));',
    'a lazy object with __sleep' => 'class Q_A { public int $a; public $b = 2; function __sleep() { Outcome::record("sleep"); return ["b"]; } } $o = (new ReflectionClass("Q_A"))->newLazyGhost(function ($o) { Outcome::record("made"); $o->a = 1; }); $say($s($o));',
];
