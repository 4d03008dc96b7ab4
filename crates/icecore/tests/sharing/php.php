<?php
// Like perl.pl, for PHP: references, copies of arrays, objects.
error_reporting(0);
#[AllowDynamicProperties]
class Obj {
    static function __set_state($members) {
        $made = new static;
        foreach ($members as $name => $value) $made->$name = $value;
        return $made;
    }
}
class Range extends Obj {}
const MARK = 'MARK';

function below($n) {
    global $seed;
    $seed = ($seed * 1103515245 + 12345) % 2147483648;
    return intdiv($seed, 65536) % $n;
}
function leaf() { return [7, 'abc', 2.5, str_repeat('x', 40), null, "caf\u{e9}", true][below(7)]; }
function &known() { global $variables; return $variables[below(count($variables))]; }
function value($depth) {
    global $arrays, $objects, $variables, $left;
    $left--;
    $what = below(12);
    if ($what < 2 && $arrays) return $arrays[below(count($arrays))];
    if ($what == 2 && $objects) return $objects[below(count($objects))];
    if ($what < 5 || $depth <= 0 || $left <= 0) return leaf();
    if ($what < 9) {
        $array = [];
        $is_list = below(2);
        $n = below(4);
        for ($i = 0; $i < $n; $i++) {
            $key = $is_list ? $i : 'abcd'[$i];
            switch (below(4)) {
            case 0:
                if ($variables) { $array[$key] = &known(); break; }
            case 1:
                $array[$key] = value($depth - 1);
                if (count($variables) < 5) $variables[] = &$array[$key];
                break;
            default:
                $array[$key] = value($depth - 1);
            }
        }
        if (below(2)) $arrays[] = $array;
        return $array;
    }
    $object = below(2) ? new Obj : new stdClass;
    if (below(2)) $objects[] = $object;
    $n = below(4);
    for ($i = 0; $i < $n; $i++) {
        $name = 'abcd'[$i];
        if (below(4) == 0 && $variables) $object->$name = &known();
        else $object->$name = value($depth - 1);
    }
    return $object;
}

function thaw($format, $blob) {
    switch ($format) {
    case 'php': return unserialize($blob);
    case 'igbinary': return igbinary_unserialize($blob);
    case 'var-export': return eval("return $blob;");
    case 'php-session': $_SESSION = []; session_decode($blob); return $_SESSION;
    case 'json': return json_decode($blob, true, 512, JSON_THROW_ON_ERROR);
    }
}

// The variable at a path is reached by reference, so that the value that contains it is changed.
function &variable(&$root, $path) {
    $to = &$root;
    foreach ($path as $key) {
        if (is_object($to)) $to = &$to->$key;
        else $to = &$to[$key];
    }
    return $to;
}
function names($value) { return is_object($value) ? array_keys(get_object_vars($value)) : array_keys($value); }
// Paths are walked by value, because the walk must not make references. $id belongs to the
// reference through which an array was reached, or to an object.
function places($value, $id, $path, $open, &$found) {
    $found[] = [$path, $value];
    if (!is_object($value) && !is_array($value)) return;
    if (is_object($value)) $id = 'o' . spl_object_id($value);
    if ($id !== null) {
        if (in_array($id, $open)) return;
        $open[] = $id;
    }
    if (count($path) > 5) return;
    $inside = is_object($value) ? (array)$value : $value;
    foreach ($inside as $key => $inner) {
        $reference = ReflectionReference::fromArrayElement($inside, $key);
        places($inner, $reference ? 'r' . $reference->getId() : null, array_merge($path, [$key]), $open, $found);
    }
}
function all($root) { $found = []; places($root, null, [], [], $found); return $found; }
function name($path) { return implode('', array_map(fn($key) => "/$key", $path)); }

function look($format, $blob) {
    $first = thaw($format, $blob);
    $said = [];
    foreach (all($first) as [$path, $before]) {
        $value = thaw($format, $blob);
        $to = &variable($value, $path);
        $is_leaf = !is_array($to) && !is_object($to);
        if ($is_leaf) $to = MARK;
        elseif (is_array($to)) $to['zz'] = MARK;
        else $to->zz = MARK;
        unset($to);
        $changed = [];
        foreach (all($value) as [$place, $now]) {
            $is_changed = $is_leaf ? $now === MARK
                : (is_array($now) ? $now['zz'] ?? null : (is_object($now) ? $now->zz ?? null : null)) === MARK;
            if ($is_changed) $changed[name($place)] = 1;
        }
        $changed = array_keys($changed);
        sort($changed, SORT_STRING);
        $said[] = ($is_leaf ? '' : '+') . name($path) . '=' . implode(',', $changed);
    }
    return implode(' ', $said);
}

session_start(['use_cookies' => 0, 'cache_limiter' => '', 'save_path' => sys_get_temp_dir(), 'use_only_cookies' => 0, 'read_and_close' => true]);
while (($line = fgets(STDIN)) !== false) {
    $parts = explode(' ', trim($line));
    try {
        if ($parts[0] == 'make') {
            $seed = ((int)$parts[1] * 2654435761) % 2147483648;
            $left = 14;
            [$arrays, $objects, $variables] = [[], [], []];
            $value = [];
            foreach (below(2) ? range(0, 4) : ['a', 'b', 'c', 'd', 'e'] as $key) {
                if (below(4) == 0 && $variables) $value[$key] = &known();
                else $value[$key] = value(3);
                if (below(3) == 0 && count($variables) < 5) $variables[] = &$value[$key];
            }
            $_SESSION = ['v' => &$value];
            $blobs = ['php' => serialize($value), 'igbinary' => igbinary_serialize($value), 'php-session' => session_encode()];
            $said = [];
            foreach ($blobs as $name => $blob) $said[] = "$name=" . base64_encode($blob);
            echo implode(' ', $said), "\n";
        } else {
            echo look($parts[1], base64_decode($parts[2] ?? '')), "\n";
        }
    } catch (Throwable $error) {
        echo 'error ', preg_replace('/\s+/', ' ', $error->getMessage()), "\n";
    }
}
