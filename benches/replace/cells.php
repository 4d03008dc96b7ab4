<?php
// Does the same as PHP programs that replace text in a database: unserialize, replace in all
// strings, serialize. The classes do not exist, so objects are records without one; JSON is treated
// as text.
//
//   php cells.php OLD NEW <CELLS >CELLS
[, $old, $new] = $argv;

function replace($value) {
    global $old, $new;
    if (is_string($value)) {
        $frozen = strlen($value) > 3 && ($value[1] === ':' || $value === 'N;') ? @unserialize($value, ['allowed_classes' => false]) : false;
        return $frozen !== false ? serialize(replace($frozen)) : str_replace($old, $new, $value);
    }
    if (is_array($value)) {
        foreach ($value as $key => $item) $value[$key] = replace($item);
    }
    // An object whose class is missing can't be changed: programs leave it as it is.
    return $value;
}

$in = fopen('php://stdin', 'rb');
$out = fopen('php://stdout', 'wb');
while (($head = fread($in, 4)) !== '' && $head !== false) {
    $length = unpack('N', $head)[1];
    $cell = $length > 0 ? stream_get_contents($in, $length) : '';
    $cell = replace($cell);
    fwrite($out, pack('N', strlen($cell)) . $cell);
}
