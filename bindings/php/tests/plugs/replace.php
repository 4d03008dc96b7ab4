<?php
// icecore.replace=1: the global names are Icecore's, and a missing list means all classes.
require __DIR__ . '/lib.php';
require __DIR__ . '/classes.php';

same('the ini value', '1', ini_get('icecore.replace'));
same('it is not for programs', false, ini_set('icecore.replace', '0'));

// Only Icecore refuses an enum that is not listed.
check('unserialize is replaced', thrown(fn () => unserialize('E:11:"Suit:Hearts";', ['allowed_classes' => []])) instanceof Icecore\ClassException);
$point = new Point(1, 2);
check('no list: all classes', unserialize(serialize($point)) == $point);
same('an enum', Suit::Spades, unserialize(serialize(Suit::Spades)));
check('allowed_classes false: incomplete', @unserialize(serialize($point), ['allowed_classes' => false]) instanceof __PHP_Incomplete_Class);
check('allowed_classes with others: incomplete', @unserialize(serialize($point), ['allowed_classes' => ['Account']]) instanceof __PHP_Incomplete_Class);
check('allowed_classes with it', unserialize(serialize($point), ['allowed_classes' => ['POINT']]) == $point);
same('var_export', "array (\n  0 => 1,\n  1 => \n  array (\n    'a' => NULL,\n  ),\n)", var_export([1, ['a' => null]], true));
same('named arguments', 'i:5;', serialize(value: 5));
same('called by name', 'a:1:{i:0;i:5;}', call_user_func('serialize', [5]));
same('called through array_map', ['i:1;', 'N;'], array_map('serialize', [1, null]));
same('false', false, unserialize('b:0;'));
$said = null;
set_error_handler(function (int $level, string $message) use (&$said) { $said = "$level: $message"; return true; });
same('malformed: false', false, unserialize('a:1:{i:0;'));
same('malformed: what is said', (PHP_VERSION_ID >= 80300 ? E_WARNING : E_NOTICE) . ': unserialize(): Error at offset 9 of 9 bytes', $said);
restore_error_handler();
check('what is no option', thrown(fn () => unserialize('N;', ['allowed_classes' => 5])) instanceof TypeError);
same('Serializable', (string) serialize([(function () { $old = new Old(); $old->data = [1]; return $old; })()]), 'a:1:{i:0;C:3:"Old":14:{a:1:{i:0;i:1;}}}');
check('Serializable, read', unserialize('C:3:"Old":14:{a:1:{i:0;i:1;}}')->data === [1]);
check('ArrayObject', unserialize(serialize(new ArrayObject([1, 2]))) == new ArrayObject([1, 2]));
// Icecore's own function keeps its own meaning.
check('Icecore\unserialize still asks', thrown(fn () => Icecore\unserialize(Icecore\serialize($point))) instanceof Icecore\ClassException);
finish();
