<?php
// A page that loads the frozen value in one way. The parts in braces are replaced.
define('LAB_VARIANT', '{variant}');
require __DIR__ . '/classes.php';

$path = __DIR__ . '/{name}.frozen';
switch ($_GET['do'] ?? '') {
    case 'freeze':
        $value = unserialize(file_get_contents(__DIR__ . '/reference'));
        file_put_contents($path, {write});
        $answer = 'frozen';
        break;
    case 'check':
        $value = {read};
        require __DIR__ . '/check.php';
        $answer = check($value, file_get_contents(__DIR__ . '/reference'));
        break;
    default:
        $value = {read};
        $answer = (string) count({list});
}
header('Content-Length: ' . strlen($answer));
echo $answer;
