<?php
// Tests icecore.replace=1: the global functions are Icecore's, and without a list all classes are built.
require __DIR__ . '/lib.php';
require __DIR__ . '/classes.php';

same('icecore.replace is 1', '1', ini_get('icecore.replace'));
same('a program can\'t set icecore.replace', false, ini_set('icecore.replace', '0'));

// PHP's own function would build this enum case, although its enum is not listed.
check('unserialize is replaced',
    thrown(fn () => unserialize('E:11:"Suit:Hearts";', ['allowed_classes' => []])) instanceof Icecore\ClassException);
$point = new Point(1, 2);
check('without a list all classes are built', unserialize(serialize($point)) == $point);
same('an enum case survives a round trip', Suit::Spades, unserialize(serialize(Suit::Spades)));
check('with allowed_classes false objects are incomplete',
    @unserialize(serialize($point), ['allowed_classes' => false]) instanceof __PHP_Incomplete_Class);
check('objects of unlisted classes are incomplete',
    @unserialize(serialize($point), ['allowed_classes' => ['Account']]) instanceof __PHP_Incomplete_Class);
check('objects of listed classes are built, in any case of the name',
    unserialize(serialize($point), ['allowed_classes' => ['POINT']]) == $point);
same('var_export writes PHP\'s text', "array (\n  0 => 1,\n  1 => \n  array (\n    'a' => NULL,\n  ),\n)",
    var_export([1, ['a' => null]], true));
same('serialize takes named arguments', 'i:5;', serialize(value: 5));
same('serialize can be called by its name', 'a:1:{i:0;i:5;}', call_user_func('serialize', [5]));
same('serialize can be a callback of array_map', ['i:1;', 'N;'], array_map('serialize', [1, null]));
same('the text of false is read', false, unserialize('b:0;'));
$warning = null;
set_error_handler(function (int $level, string $message) use (&$warning) {
    $warning = "$level: $message";
    return true;
});
same('malformed text gives false', false, unserialize('a:1:{i:0;'));
same('malformed text gives PHP\'s warning', (PHP_VERSION_ID >= 80300 ? E_WARNING : E_NOTICE)
    . ': unserialize(): Error at offset 9 of 9 bytes', $warning);
restore_error_handler();
check('an invalid allowed_classes is a TypeError',
    thrown(fn () => unserialize('N;', ['allowed_classes' => 5])) instanceof TypeError);
same('a Serializable object is written as C:',
    (string) serialize([(function () { $old = new Old(); $old->data = [1]; return $old; })()]),
    'a:1:{i:0;C:3:"Old":14:{a:1:{i:0;i:1;}}}');
check('a C: object is read', unserialize('C:3:"Old":14:{a:1:{i:0;i:1;}}')->data === [1]);
check('an ArrayObject survives a round trip',
    unserialize(serialize(new ArrayObject([1, 2]))) == new ArrayObject([1, 2]));
// Icecore\unserialize keeps its own default.
check('Icecore\unserialize still needs a list',
    thrown(fn () => Icecore\unserialize(Icecore\serialize($point))) instanceof Icecore\ClassException);
finish();
