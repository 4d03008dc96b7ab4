<?php
// Reads lines `FORMAT HEX` and prints what PHP reads from each, one line per value.
error_reporting(0);
// Classes are made when var_export's text needs them; others stay incomplete.
$makes = false;
spl_autoload_register(function ($name) use (&$makes) {
    if (!$makes) return;
    $at = strrpos($name, '\\');
    $space = $at === false ? '' : 'namespace ' . substr($name, 0, $at) . ';';
    $short = $at === false ? $name : substr($name, $at + 1);
    eval("$space #[\\AllowDynamicProperties] class $short { public static function __set_state(\$all) {
        \$made = new self; foreach (\$all as \$key => \$value) \$made->{\$key} = \$value; return \$made; } }");
});
function said($value) {
    if ($value === null) return 'n';
    if (is_bool($value)) return $value ? 't' : 'f';
    if (is_int($value)) return "i$value";
    if (is_float($value)) return is_nan($value) ? 'dnan' : 'd' . bin2hex(pack('E', $value));
    if (is_string($value)) return 's' . bin2hex($value);
    $entries = [];
    if (is_array($value)) {
        foreach ($value as $key => $item) {
            $entries[] = (is_int($key) ? "i$key" : 's' . bin2hex($key)) . '=' . said($item);
        }
        sort($entries, SORT_STRING);
        return '{' . implode(',', $entries) . '}';
    }
    if (!is_object($value)) return '?';
    $class = get_class($value);
    foreach ((array)$value as $key => $item) {
        if ($key === '__PHP_Incomplete_Class_Name') { $class = $item; continue; }
        $entries[] = 's' . bin2hex((string)$key) . '=' . said($item);
    }
    sort($entries, SORT_STRING);
    return 'o' . bin2hex($class) . '{' . implode(',', $entries) . '}';
}
while (($line = fgets(STDIN)) !== false) {
    [$format, $blob] = explode(' ', trim($line) . ' ');
    $blob = hex2bin($blob);
    $said = null;
    $makes = false;
    try {
        if ($format === 'php') $said = said(unserialize($blob));
        elseif ($format === 'igbinary') $said = said(igbinary_unserialize($blob));
        else {
            $makes = true;
            $said = said(eval("return $blob;"));
        }
    } catch (Throwable $error) {
        $said = 'error ' . strtr($error->getMessage(), "\n", ' ');
    }
    echo $said, "\n";
}
