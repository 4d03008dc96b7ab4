<?php

// Pushes the jobs of a file: each line contains the queue, a value and options, as JSON.
require dirname(__DIR__, 4) . '/bindings/php/Icecore/Client.php';

$client = new Icecore\Client();
foreach (file($argv[1]) as $number => $line) {
    $said = json_decode($line, true);
    $options = $said['options'];
    if (isset($options['max_attempts'])) {
        $options['maxAttempts'] = $options['max_attempts'];
        unset($options['max_attempts']);
    }
    echo $client->push($said['queue'], [$number, $said['value']], ...$options), "\n";
}
