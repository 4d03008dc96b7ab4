<?php

// A client that pushes, stores and works until it is killed, and notes the answers:
//
//   kill.php QUEUE LEASE NOTES SEED
//
// LEASE is in seconds. The format of the lines is in `crates/icecore-store/tests/killing/reported_events.rs`.
declare(strict_types=1);

require dirname(__DIR__, 4) . '/bindings/php/Icecore/Client.php';

use Icecore\Client;
use Icecore\Client\Job;
use Icecore\ClientException;

[, $queue, $lease, $notes, $seed] = $argv;
$lease = (float) $lease;
mt_srand((int) $seed);
$out = fopen($notes, 'a');
stream_set_write_buffer($out, 0);

// Writes a line with a single call.
$tell = fn (mixed ...$words) => fwrite($out, implode(' ', $words) . "\n");

$treat = function (Job $job) use ($tell, $lease): int {
    $tell('granted', $job->id, $job->attempt, (int) ($lease * 1000), $job->leaseUntil());
    if (mt_rand(0, 9) === 0) {
        usleep((int) ($lease * 1.5e6));
    }
    try {
        if (mt_rand(0, 4) === 0) {
            $job->extend();
            $tell('extended', $job->id, $job->attempt, $job->leaseUntil());
        }
    } catch (ClientException $error) {
        $error->kind === 'lease' || $error->isPassing() || throw $error;
    }
    // After its lease, a worker notes nothing: another one may already have the job.
    if ($job->left() > 0) {
        $tell('releasing', $job->id, $job->attempt);
    }
    return $job->attempt;
};

$client = new Client(format: 'json');
for ($number = 0; ; ) {
    try {
        for ($more = mt_rand(1, 3); $more > 0; $more--) {
            $name = 'php-' . getmypid() . ' ' . $number++;
            if (mt_rand(0, 4) === 0) {
                $tell('put', $client->store([$name]));
            } else {
                $tell('pushed', $client->push($queue, [$name, 1], maxAttempts: 1_000_000, unique: mt_rand(0, 2) === 0 ? $name : null));
            }
        }
        $client->work($queue, $treat, lease: $lease, max: mt_rand(1, 3), limit: 3, drain: true, log: fn () => null);
    } catch (ClientException $error) {
        // If the daemon is unavailable for too long, try again.
        $error->isPassing() || throw $error;
    }
}
