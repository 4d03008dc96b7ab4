<?php
// Classes: missing ones, autoloaders, callbacks, enums, classes that PHP refuses, and PHP's own classes.

declare(strict_types=1);

$cases = [];
foreach (['Closure', 'Generator', 'WeakMap', 'WeakReference', 'ReflectionClass', 'SplFileInfo', 'SplFileObject', 'DirectoryIterator', 'PDO', 'Fiber', 'SimpleXMLElement', 'XMLReader', 'Countable', 'Traversable', 'UnitEnum', 'BackedEnum', 'self', 'static', 'parent', 'stdClass', 'STDCLASS', '\\stdClass', 'No\\Such', 'a b', 'é', '5a', '__PHP_Incomplete_Class', 'Exception', 'Error', 'ArrayObject', 'ArrayIterator', 'SplObjectStorage', 'SplDoublyLinkedList', 'SplQueue', 'SplStack', 'SplFixedArray', 'SplMinHeap', 'SplMaxHeap', 'SplPriorityQueue', 'DateTime', 'DateTimeImmutable', 'DateTimeZone', 'DateInterval', 'DatePeriod', 'MultipleIterator', 'CachingIterator', 'Random\\Engine\\Mt19937', 'Random\\Engine\\Secure', 'Random\\Randomizer', 'InternalIterator', 'Attribute', 'SensitiveParameterValue', 'DOMDocument', 'HashContext', 'CurlHandle'] as $class) {
    foreach (['0:{}', '1:{s:1:"a";i:1;}', '2:{i:0;i:1;i:1;a:0:{}}'] as $body) {
        $text = 'O:' . strlen($class) . ":\"$class\":$body";
        $cases["read $text"] = '$try(fn () => $u(' . var_export($text, true) . '));';
    }
    $cases["read C: of $class"] = '$try(fn () => $u(' . var_export('C:' . strlen($class) . ":\"$class\":1:{x}", true) . '));';
}
foreach (['fn () => 1', 'new class {}', 'new WeakMap', 'WeakReference::create(new stdClass)', 'new ReflectionClass("stdClass")', 'new SplFileInfo("x")', 'new Fiber(fn () => 1)', '(function () { yield 1; })()', 'new SplTempFileObject', 'hash_init("md5")', 'new class extends ArrayObject {}'] as $value) {
    $cases["write $value"] = "\$try(fn () => \$s([1, $value]));";
}
foreach (['new ArrayObject([1, 2])', 'new ArrayObject((object) ["a" => 1], 2)', 'new ArrayObject(new ArrayObject([1]))', 'new ArrayIterator(["a" => 1])', 'new RecursiveArrayIterator([[1]])', 'new SplObjectStorage', 'SplFixedArray::fromArray([1, "a", null])', 'new SplFixedArray(0)', 'new SplQueue', 'new SplStack', 'new SplMinHeap', 'new SplPriorityQueue', 'new DateTime("2020-01-02 03:04:05.678", new DateTimeZone("Europe/Berlin"))', 'new DateTimeImmutable("2020-01-02 +03:00")', 'new DateTime("2020-01-02 EST")', 'new DateTimeZone("Asia/Tokyo")', 'new DateInterval("P1Y2M3DT4H")', '(new DateTime("2020-01-01"))->diff(new DateTime("2021-03-04"))', 'DateInterval::createFromDateString("next weekday")', 'new DatePeriod(new DateTime("2020-01-01"), new DateInterval("P1D"), 4)', 'new DatePeriod(new DateTimeImmutable("2020-01-01"), new DateInterval("P1D"), new DateTime("2020-02-01"), 1)', 'new LogicException("m", 3)', '(object) ["a" => 1, "5" => 2, "" => 3]', 'new MultipleIterator', 'new __PHP_Incomplete_Class'] as $value) {
    $cases["round trip of $value"] = "\$v = $value; \$text = \$s(\$v); \$try(fn () => \$u(\$text)); \$say(preg_replace('/\"[^\"]*php.*?;/', '', strlen(\$text) > 400 ? '' : \$text)); \$try(fn () => \$u(\$s([\$v, \$v])));";
    $cases["not in allowed_classes: $value"] = "\$try(fn () => \$u(\$s([$value]), ['allowed_classes' => ['Other']]));";
}
$cases['an SplObjectStorage with objects and data'] = '$o = new SplObjectStorage; $o[$a = new stdClass] = 1; $o[new stdClass] = [$a]; $v = [$o, $a]; $say($s($v)); $show($u($s($v)));';
$cases['an SplDoublyLinkedList of objects'] = '$l = new SplDoublyLinkedList; $l->push($o = new stdClass); $l->push($o); $l->setIteratorMode(2); $say($s([$o, $l])); $show($u($s([$o, $l])));';
$cases['an ArrayObject that contains itself'] = '$o = new ArrayObject; $o[0] = $o; $say($s($o)); $show($u($s($o)));';
foreach (['Q_E:A', 'Q_E:B', 'Q_E:a', 'Q_E:C', 'Q_E:', ':A', 'Q_E', 'Q_N:A', 'stdClass:A', 'Q_I:A', 'Q_E:A:B', 'q_e:A', '\\Q_E:A'] as $name) {
    foreach (['%s', 'a:2:{i:0;%si:1;r:2;}', 'a:2:{i:0;%si:1;R:2;}'] as $around) {
        $cases["enum $name in $around"] = "enum Q_E: string { case A = 'x'; case B = 'y'; const C = self::A; } interface Q_I { const A = 1; } \$try(fn () => \$u(sprintf('$around', 'E:' . strlen('$name') . ':\"$name\";')));";
    }
}
$cases['enum cases are written'] = 'enum Q_E { case A; case B; } enum Q_F: int { case A = 1; } $v = [Q_E::A, Q_E::B, Q_E::A, Q_F::A, (object) ["e" => Q_E::A]]; $say($s($v)); $show($u($s($v)));';
$cases['an enum as an object'] = 'enum Q_E { case A; } $try(fn () => $u(\'O:\' . strlen("Q_E") . \':"Q_E":0:{}\'));';
$cases['an abstract class'] = 'abstract class Q_A { public $a; } $try(fn () => $u(\'O:\' . strlen("Q_A") . \':"Q_A":0:{}\'));';
$cases['an interface'] = 'interface Q_A {} $try(fn () => $u(\'O:\' . strlen("Q_A") . \':"Q_A":0:{}\'));';
$cases['a trait'] = 'trait Q_A {} $try(fn () => $u(\'O:\' . strlen("Q_A") . \':"Q_A":0:{}\'));';
$loader = 'spl_autoload_register($load = function ($name) { Outcome::record("asked for $name"); %s });';
foreach (['knows' => 'if ($name === "Q_A") { eval("class Q_A { public \$a; function __wakeup() { Outcome::record(1); } }"); }', 'knows nothing' => '', 'throws' => 'throw new Exception("loader");', 'reads' => 'Outcome::record(Shape::of(Implementation::current()->unserialize("a:1:{i:0;i:5;}")));'] as $name => $body) {
    $cases["an autoloader that $name"] = sprintf($loader, $body) . ' try { $try(fn () => $u(\'a:2:{i:0;O:\' . strlen("Q_A") . \':"Q_A":1:{s:1:"a";i:1;}i:1;i:2;}\')); } finally { spl_autoload_unregister($load); }';
}
foreach (['defines' => 'eval("class Q_A { public \$a; }");', 'does nothing' => '', 'throws' => 'throw new Exception("callback");'] as $name => $body) {
    $cases["unserialize_callback_func that $name"] = "function Q_call(\$name) { Outcome::record(\"called for \$name\"); $body } ini_set('unserialize_callback_func', 'Q_call'); try { \$try(fn () => \$u('O:' . strlen('Q_A') . ':\"Q_A\":1:{s:1:\"a\";i:1;}')); } finally { ini_set('unserialize_callback_func', ''); }";
}
$cases['a missing unserialize_callback_func'] = 'ini_set("unserialize_callback_func", "Q_none"); try { $try(fn () => $u(\'O:3:"X_y":0:{}\')); } finally { ini_set("unserialize_callback_func", ""); }';
$cases['an incomplete object is written as the text from which it was read'] = '$o = $u(\'O:4:"None":3:{s:1:"a";i:1;\' . "s:4:\"\0*\0b\";i:2;s:7:\"\0None\0c\";a:1:{i:0;N;}}"); $say($s($o)); $say($s([$o, $o]));';
$cases['an incomplete object without its class name'] = '$o = $u(\'O:4:"None":1:{s:1:"a";i:1;}\'); $b = (array) $o; $say($s(new __PHP_Incomplete_Class)); $say(count($b));';
$cases['a property of an incomplete object'] = '$o = $u(\'O:4:"None":1:{s:1:"a";i:1;}\'); $show($o->a ?? "unset"); $try(fn () => $o->a = 5);';
$cases['serialize and unserialize in a fiber'] = '$f = new Fiber(function () use ($s, $u, $show) { $v = $u($s([1, (object) ["a" => Fiber::suspend(1)]])); $show($v); return 5; }); $f->start(); $f->resume("back"); $show($f->getReturn());';
$cases['a hook that suspends a fiber'] = 'class Q_A { public $n = 1; function __wakeup() { Outcome::record("before"); Fiber::suspend(1); Outcome::record("after"); } } $text = $s([new Q_A, new Q_A]); $f = new Fiber(fn () => $u($text)); $f->start(); $show($u("i:5;")); $f->resume(); $f->resume(); $show($f->getReturn());';
$cases['arrays and references in several places'] = '$a = ["x"]; $v = [$a, $a, &$a]; $say($s($v)); $r = &$v; $say($s($v)); $say($s([&$v]));';
$cases['an array that contains itself'] = '$a = [1]; $a[] = &$a; $say($s($a)); $show($u($s($a)));';
return $cases;
