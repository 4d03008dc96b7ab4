<?php
// Prints whether opcache has a file, and how much memory it has: `yes 134217728`, or `off`.
$status = function_exists('opcache_get_status') ? opcache_get_status(false) : false;
if ($status === false) {
    $answer = 'off';
} else {
    $memory = $status['memory_usage'];
    $all = $memory['used_memory'] + $memory['free_memory'] + $memory['wasted_memory'];
    $answer = (opcache_is_script_cached(__DIR__ . '/' . basename($_GET['file'] ?? '')) ? 'yes' : 'no') . " $all";
}
header('Content-Length: ' . strlen($answer));
echo $answer;
