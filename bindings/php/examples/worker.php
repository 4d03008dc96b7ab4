<?php
// A worker that runs many jobs in one process, some of them concurrently in fibers. A list of classes
// belongs to one call, so the classes of one job are not allowed for the next. Icecore\allow holds until
// the end of the request, which in a worker is the end of the process: it is for classes that all jobs
// share.

use function Icecore\unserialize;

class Money
{
    public function __construct(public int $cents = 0)
    {
    }
}

class Invoice
{
    public array $lines = [];
}

class Mail
{
    public string $to = '';

    /** This hook waits, and other jobs continue meanwhile. */
    public function __unserialize(array $data): void
    {
        $this->to = Fiber::getCurrent() ? Fiber::suspend("waits for the address of {$data['to']}") : $data['to'];
    }

    public function __serialize(): array
    {
        return ['to' => $this->to];
    }
}

Icecore\allow(Money::class);

$invoice = new Invoice();
$invoice->lines = [new Money(100), new Money(250)];
$mail = new Mail();
$mail->to = 'alice';
$jobs = [
    ['bill', ['classes' => ['Invoice']], serialize($invoice)],
    ['mail', ['classes' => ['Mail']], serialize([$mail, new Money(5)])],
    ['mail with an invoice', ['classes' => ['Mail']], serialize([$mail, $invoice])],
    ['bill again', ['classes' => ['Invoice']], serialize([$invoice, $invoice])],
    ['nothing named', [], serialize([new Money(1), new Money(2)])],
    ['nothing named, an invoice', [], serialize($invoice)],
];

$run = function (string $name, array $options, string $text): string {
    try {
        return "$name: " . json_encode(unserialize($text, $options));
    } catch (Icecore\ClassException $e) {
        return "$name: refused at $e->path";
    }
};

echo "one after the other\n";
foreach ($jobs as $job) {
    echo '  ', $run(...$job), "\n";
}

echo "in fibers\n";
$fibers = [];
foreach ($jobs as $index => $job) {
    $fibers[$index] = new Fiber(function () use ($run, $job): void {
        echo '  ', $run(...$job), "\n";
    });
    $message = $fibers[$index]->start();
    if ($message !== null) {
        echo "  $job[0]: $message\n";
    }
}
foreach ($fibers as $index => $fiber) {
    while (!$fiber->isTerminated()) {
        $fiber->resume("alice@example.org, job $index");
    }
}

echo "20,000 jobs\n";
$before = null;
for ($i = 0; $i < 20_000; $i++) {
    $run(...$jobs[$i % count($jobs)]);
    $before ??= $i === 2_000 ? memory_get_usage() : null;
}
echo '  memory: ', memory_get_usage() - $before < 1024 ? 'no growth' : 'it grew', "\n";
