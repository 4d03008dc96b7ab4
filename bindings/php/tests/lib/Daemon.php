<?php

/** A daemon (`icecore serve`) with a new SQLite database. It ends with the program. */
final class Daemon
{
    public readonly string $url;
    private readonly string $folder;
    private string $listen = '127.0.0.1:0';
    /** @var ?resource */
    private $process = null;
    private $output;

    /** Returns the path of the command `icecore`; null if it is not built. */
    public static function command(): ?string
    {
        $root = dirname(__DIR__, 4);
        $target = getenv('CARGO_TARGET_DIR') ?: "$root/target";
        foreach ([getenv('ICECORE_COMMAND'), "$target/debug/icecore", "$target/release/icecore"] as $file) {
            if (is_string($file) && $file !== '' && is_file($file) && is_executable($file)) {
                return $file;
            }
        }
        return null;
    }

    public function __construct(private readonly ?string $token = null)
    {
        $this->folder = sys_get_temp_dir() . '/icecore-' . bin2hex(random_bytes(8));
        mkdir($this->folder);
        $this->startIn(0);
        // The daemon prints a line when it accepts connections.
        $line = (string) fgets($this->output);
        if (preg_match('~http://([0-9.:]+\d)~', $line, $found) !== 1) {
            throw new RuntimeException("the daemon did not start: $line");
        }
        [$this->url, $this->listen] = $found;
    }

    /** Starts the daemon after this many seconds. */
    public function startIn(float $seconds): void
    {
        $shell = ['sh', '-c', "sleep $seconds; exec \"\$@\"", 'sh', self::command(), 'serve', '--db',
            "sqlite:$this->folder/icecore.db", '--listen', $this->listen];
        $environment = array_diff_key(getenv(), ['ICECORE_DB' => 1, 'ICECORE_TOKEN' => 1])
            + ($this->token === null ? [] : ['ICECORE_TOKEN' => $this->token]);
        $this->process = proc_open($shell,
            [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', "$this->folder/output", 'w']], $pipes,
            null, $environment);
        for ($this->output = fopen("$this->folder/output", 'r'); $seconds === 0 || $seconds === 0.0; usleep(10_000)) {
            if (str_contains((string) file_get_contents("$this->folder/output"), "\n")
                || !proc_get_status($this->process)['running']) {
                return;
            }
        }
    }

    public function stop(): void
    {
        if ($this->process !== null) {
            proc_terminate($this->process, 9);
            proc_close($this->process);
            $this->process = null;
        }
    }

    public function __destruct()
    {
        $this->stop();
        array_map(unlink(...), glob("$this->folder/*"));
        rmdir($this->folder);
    }
}

/** A server that sends the same answer to each request, and closes. */
final class FakeServer
{
    public readonly string $url;
    private $process;

    /**
     * @param ?string $endless text that is repeated without an end after the answer
     * @param ?string $job the answer to a claim, if it is another one
     */
    public function __construct(string $answer, ?string $endless = null, ?string $job = null)
    {
        $encode = static fn ($text) => $text === null ? null : base64_encode($text);
        $encoded = array_map($encode, [$answer, $endless, $job]);
        $this->process = proc_open([PHP_BINARY, '-n', __FILE__], [['pipe', 'r'], ['pipe', 'w'], STDERR], $pipes);
        fwrite($pipes[0], json_encode($encoded));
        fclose($pipes[0]);
        $this->url = trim((string) fgets($pipes[1]));
    }

    /** Returns an answer with the status 200 and this JSON body. */
    public static function ok(string $body): string
    {
        return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " . strlen($body)
            . "\r\n\r\n$body";
    }

    /** The code that runs in the process. */
    public static function serve(): never
    {
        $decode = static fn ($text) => $text === null ? null : base64_decode($text);
        [$answer, $endless, $job] = array_map($decode, json_decode(stream_get_contents(STDIN)));
        $server = stream_socket_server('tcp://127.0.0.1:0');
        echo 'http://', stream_socket_get_name($server, false), "\n";
        while ($client = stream_socket_accept($server, 600)) {
            for ($head = ''; !str_contains($head, "\r\n\r\n") && !feof($client);) {
                $head .= fread($client, 4096);
            }
            @fwrite($client, $job !== null && str_contains($head, '/claim') ? $job : $answer);
            for ($count = 0; $endless !== null && $count < 100_000 && @fwrite($client, $endless); $count++);
            // Reads the rest of the request: closing before that could lose the answer.
            @stream_socket_shutdown($client, STREAM_SHUT_WR);
            while (!feof($client) && fread($client, 65536) !== false);
            fclose($client);
        }
        exit;
    }

    public function __destruct()
    {
        proc_terminate($this->process, 9);
        proc_close($this->process);
    }
}

if (realpath($_SERVER['SCRIPT_FILENAME']) === __FILE__) {
    FakeServer::serve();
}
