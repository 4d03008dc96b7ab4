<?php
// Creates option.ser and job.payload: strings that are frozen data. Run as: php make.php
class SendMail
{
    public $to = 'a@example.org';
    protected $queue = 'mails';
    private $tries = 3;
}
$widgets = serialize([2 => ['title' => 'News', 'count' => 5]]);
file_put_contents('option.ser', serialize(['siteurl' => 'https://example.org', 'widgets' => $widgets, 'broken' => substr($widgets, 0, -2)]));
$job = ['uuid' => 'x-1', 'data' => ['commandName' => 'SendMail', 'command' => serialize(new SendMail())]];
file_put_contents('job.payload', json_encode($job));
