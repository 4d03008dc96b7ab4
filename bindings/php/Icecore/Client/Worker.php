<?php

declare(strict_types=1);

namespace Icecore\Client;

use Icecore\ClientException;

/**
 * Takes jobs of a queue, one after the other, until it is stopped.
 *
 * @internal
 */
final class Worker
{
    private const LONGEST_ERROR = 4000;

    private bool $isStopped = false;
    private int $worked = 0;

    /**
     * @param \Closure(string, ?string): mixed $thaw
     * @param \Closure(string): void $log
     */
    public function __construct(
        private readonly Requests $requests,
        private readonly string $queue,
        private readonly \Closure $thaw,
        private readonly float $lease,
        private readonly int $max,
        private readonly float $wait,
        private readonly ?int $limit,
        private readonly bool $drain,
        private readonly string $worker,
        private readonly \Closure $log,
    ) {
    }

    /** Returns the number of jobs that it worked on. */
    public function run(callable $do): int
    {
        $before = $this->trap();
        try {
            $this->loop($do);
        } finally {
            $this->untrap($before);
        }
        return $this->worked;
    }

    /**
     * SIGTERM and SIGINT: the jobs that were begun are finished, then it ends. Only if PHP has
     * pcntl.
     *
     * @return array<int, mixed>
     */
    private function trap(): array
    {
        $before = [];
        if (function_exists('pcntl_signal')) {
            $before[0] = pcntl_async_signals(true);
            foreach ([SIGTERM, SIGINT] as $signal) {
                $before[$signal] = pcntl_signal_get_handler($signal);
                pcntl_signal($signal, function (): void {
                    $this->isStopped = true;
                });
            }
        }
        return $before;
    }

    /** @param array<int, mixed> $before */
    private function untrap(array $before): void
    {
        foreach ($before as $signal => $handler) {
            $signal === 0 ? pcntl_async_signals($handler) : pcntl_signal($signal, $handler);
        }
    }

    private function loop(callable $do): void
    {
        $pause = 0.1;
        while (!$this->isStopped && $this->worked < ($this->limit ?? PHP_INT_MAX)) {
            try {
                $jobs = $this->claim();
            } catch (ClientException $error) {
                if (!$error->isPassing()) {
                    throw $error;
                }
                if ($pause === 0.1) {
                    ($this->log)("waiting for the daemon: {$error->getMessage()}");
                }
                $this->rest(Requests::longer($pause, $error));
                $pause = min($pause * 2, 30);
                continue;
            }
            $pause = 0.1;
            if ($jobs === [] && $this->drain) {
                return;
            }
            foreach ($jobs as $job) {
                $this->isStopped ? $this->giveBack($job) : $this->work($job, $do);
            }
        }
    }

    /** @return list<Job> */
    private function claim(): array
    {
        $max = min($this->max, ($this->limit ?? PHP_INT_MAX) - $this->worked);
        $wait = $this->drain ? 0.0 : $this->wait;
        $query = ['worker' => $this->worker, 'lease' => $this->lease, 'max' => $max, 'wait' => $wait, 'brief' => true, 'bytes' => true];
        $asked = Requests::now();
        $answer = $this->requests->ask('POST', '/queues/' . Requests::escaped($this->queue) . '/claim', $query, longer: $wait);
        $jobs = array_filter(is_array($answer['jobs'] ?? null) ? $answer['jobs'] : [], is_array(...));
        return array_map(fn (array $said) => new Job($this->requests, $said, $this->lease, $asked), array_slice(array_values($jobs), 0, $max));
    }

    private function work(Job $job, callable $do): void
    {
        $this->worked++;
        // It waited too long for other jobs: another worker may have it.
        if ($job->left() <= 0) {
            ($this->log)("job {$job->id}: its lease ended before it was begun");
            return;
        }
        try {
            $job->value = ($this->thaw)($job->bytes, $job->format);
            $result = $do($job);
        } catch (\Throwable $error) {
            $this->end($job, 'nack', self::error($error::class . ": {$error->getMessage()}"));
            return;
        }
        // A result that is not plain data is not stored.
        $json = $result === null ? null : Plain::json($result);
        $refused = $this->end($job, 'ack', ...($json === null ? [] : ["\"result\":$json"]));
        if ($refused !== null) {
            $this->end($job, 'nack', self::error("the result was refused: {$refused->getMessage()}"));
        }
    }

    private static function error(string $text): string
    {
        return '"error":' . json_encode(substr($text, 0, self::LONGEST_ERROR), JSON_INVALID_UTF8_SUBSTITUTE);
    }

    /** Gives a job back that was not begun. */
    private function giveBack(Job $job): void
    {
        try {
            $job->tell('nack', '"delay":0', self::error('the worker stopped'));
        } catch (ClientException) {
            // Its lease ends by itself.
        }
    }

    /**
     * Reports the result of a job, until the daemon has received it or the lease is over. Returns
     * an error if the daemon refuses it.
     */
    private function end(Job $job, string $how, string ...$members): ?ClientException
    {
        [$pause, $isFirst] = [0.05, true];
        while (true) {
            try {
                $job->tell($how, ...$members);
                return null;
            } catch (ClientException $error) {
                if (!$error->isPassing()) {
                    if ($how === 'ack' && $members !== [] && in_array($error->status, [400, 413], true)) {
                        return $error;
                    }
                    // If it is refused because the first answer was lost, the report was
                    // successful.
                    if ($isFirst || $error->kind !== 'lease') {
                        ($this->log)("job {$job->id}: $how: {$error->getMessage()}");
                    }
                    return null;
                }
                $isFirst = false;
                if ($job->left() <= $pause) {
                    ($this->log)("job {$job->id}: its lease ended while the daemon was away");
                    return null;
                }
                Requests::sleep($pause);
                $pause = min($pause * 2, 2);
            }
        }
    }

    /** Sleeps, but wakes up when the worker is stopped. */
    private function rest(float $seconds): void
    {
        $until = Requests::now() + $seconds;
        while (!$this->isStopped && ($left = $until - Requests::now()) > 0) {
            Requests::sleep(min($left, 0.25));
        }
    }
}
