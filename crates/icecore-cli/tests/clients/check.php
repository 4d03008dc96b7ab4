<?php

// Works on a queue: the result of a job is its number, and whether PHP sees its value as equal to that
// of the file.
require dirname(__DIR__, 4) . '/bindings/php/Icecore/Client.php';

[, $queue, $file] = $argv;
$wanted = array_map(fn ($line) => json_decode($line, true)['value'], file($file));

// Numbers of different types may be equal; other values must have the same type.
function same(mixed $wanted, mixed $got): bool
{
    if (is_array($wanted) && is_array($got)) {
        if (count($wanted) !== count($got)) {
            return false;
        }
        foreach ($wanted as $key => $item) {
            if (!array_key_exists($key, $got) || !same($item, $got[$key])) {
                return false;
            }
        }
        return true;
    }
    return is_string($wanted) || is_null($wanted) || is_array($wanted) || is_string($got) ? $wanted === $got : $wanted == $got;
}

echo (new Icecore\Client())->work($queue, function (Icecore\Client\Job $job) use ($wanted) {
    [$number, $value] = $job->value;
    return [$number, same($wanted[$number], $value) ? 'same' : 'other'];
}, drain: true, max: 3);
