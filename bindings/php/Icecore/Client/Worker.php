<?php

declare(strict_types=1);

namespace Icecore\Client;

use Icecore\ClientException;

/**
 * Runs the jobs of a queue, one after the other, until it is stopped.
 *
 * @internal
 */
final class Worker
{
    private const MAX_ERROR = 4000;

    private bool $isStopped = false;
    private int $runJobs = 0;

    /**
     * @param \Closure(string, ?string): mixed $decode
     * @param \Closure(string): void $log
     */
    public function __construct(
        private readonly Requests $requests,
        private readonly string $queue,
        private readonly \Closure $decode,
        private readonly float $lease,
        private readonly int $max,
        private readonly float $wait,
        private readonly ?int $limit,
        private readonly bool $drain,
        private readonly string $worker,
        private readonly \Closure $log,
    ) {
    }

    /** Runs jobs with this function, and returns their number. */
    public function run(callable $handler): int
    {
        $formerHandlers = $this->installSignalHandlers();
        try {
            $this->loop($handler);
        } finally {
            $this->restoreSignalHandlers($formerHandlers);
        }
        return $this->runJobs;
    }

    /**
     * Installs handlers of SIGTERM and SIGINT, which stop the worker after the current job. Does nothing
     * without pcntl.
     *
     * @return array<int, mixed> the former handlers by signal; at 0 the former setting of
     * pcntl_async_signals
     */
    private function installSignalHandlers(): array
    {
        $formerHandlers = [];
        if (function_exists('pcntl_signal')) {
            $formerHandlers[0] = pcntl_async_signals(true);
            foreach ([SIGTERM, SIGINT] as $signal) {
                $formerHandlers[$signal] = pcntl_signal_get_handler($signal);
                pcntl_signal($signal, function (): void {
                    $this->isStopped = true;
                });
            }
        }
        return $formerHandlers;
    }

    /** @param array<int, mixed> $formerHandlers */
    private function restoreSignalHandlers(array $formerHandlers): void
    {
        foreach ($formerHandlers as $signal => $handler) {
            $signal === 0 ? pcntl_async_signals($handler) : pcntl_signal($signal, $handler);
        }
    }

    private function loop(callable $handler): void
    {
        $pause = 0.1;
        while (!$this->isStopped && $this->runJobs < ($this->limit ?? PHP_INT_MAX)) {
            try {
                $jobs = $this->claim();
            } catch (ClientException $error) {
                if (!$error->isPassing()) {
                    throw $error;
                }
                if ($pause === 0.1) {
                    ($this->log)("waiting for the daemon: {$error->getMessage()}");
                }
                $this->sleepUnlessStopped(Requests::pauseAfter($pause, $error));
                $pause = min($pause * 2, 30);
                continue;
            }
            $pause = 0.1;
            if ($jobs === [] && $this->drain) {
                return;
            }
            foreach ($jobs as $job) {
                $this->isStopped ? $this->returnJob($job) : $this->runJob($job, $handler);
            }
        }
    }

    /** @return list<Job> */
    private function claim(): array
    {
        $max = min($this->max, ($this->limit ?? PHP_INT_MAX) - $this->runJobs);
        $wait = $this->drain ? 0.0 : $this->wait;
        $query = ['worker' => $this->worker, 'lease' => $this->lease, 'max' => $max, 'wait' => $wait, 'brief' => true,
            'bytes' => true];
        $requestedAt = Requests::now();
        $path = '/queues/' . Requests::escape($this->queue) . '/claim';
        $answer = $this->requests->send('POST', $path, $query, extraTime: $wait);
        $jobs = array_filter(is_array($answer['jobs'] ?? null) ? $answer['jobs'] : [], is_array(...));
        return array_map(
            fn (array $description) => new Job($this->requests, $description, $this->lease, $requestedAt),
            array_slice(array_values($jobs), 0, $max),
        );
    }

    private function runJob(Job $job, callable $handler): void
    {
        $this->runJobs++;
        // The job has waited too long for others of this worker, so another worker may have it.
        if ($job->left() <= 0) {
            ($this->log)("job {$job->id}: its lease ended before it was begun");
            return;
        }
        try {
            $job->value = ($this->decode)($job->bytes, $job->format);
            $result = $handler($job);
        } catch (\Throwable $error) {
            $this->finish($job, 'nack', self::errorMember($error::class . ": {$error->getMessage()}"));
            return;
        }
        // A result that is not plain data is not stored.
        $json = $result === null ? null : Plain::json($result);
        $refusal = $this->finish($job, 'ack', ...($json === null ? [] : ["\"result\":$json"]));
        if ($refusal !== null) {
            $this->finish($job, 'nack', self::errorMember("the result was refused: {$refusal->getMessage()}"));
        }
    }

    /** Returns an error as a member of a JSON object. */
    private static function errorMember(string $text): string
    {
        return '"error":' . json_encode(substr($text, 0, self::MAX_ERROR), JSON_INVALID_UTF8_SUBSTITUTE);
    }

    /** Returns a job that was not begun to the daemon. */
    private function returnJob(Job $job): void
    {
        try {
            $job->send('nack', '"delay":0', self::errorMember('the worker stopped'));
        } catch (ClientException) {
            // The daemon gets the job back when its lease ends.
        }
    }

    /**
     * Reports the end of a job (`ack` or `nack`), until the daemon has received it or the lease is over.
     * Returns the error if the daemon refuses the result.
     */
    private function finish(Job $job, string $action, string ...$members): ?ClientException
    {
        [$pause, $isFirst] = [0.05, true];
        while (true) {
            try {
                $job->send($action, ...$members);
                return null;
            } catch (ClientException $error) {
                if (!$error->isPassing()) {
                    if ($action === 'ack' && $members !== [] && in_array($error->status, [400, 413], true)) {
                        return $error;
                    }
                    // After a repeated report, this error means that the first one was received and
                    // only its answer was lost.
                    if ($isFirst || $error->kind !== 'lease') {
                        ($this->log)("job {$job->id}: $action: {$error->getMessage()}");
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

    /** Sleeps for this time, or until the worker is stopped. */
    private function sleepUnlessStopped(float $seconds): void
    {
        $deadline = Requests::now() + $seconds;
        while (!$this->isStopped && ($remaining = $deadline - Requests::now()) > 0) {
            Requests::sleep(min($remaining, 0.25));
        }
    }
}
