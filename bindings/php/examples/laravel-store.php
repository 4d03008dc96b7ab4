<?php
// A cache store like Laravel's: get, put, remember, increment and forget, on files. As in Laravel, an
// entry is ten digits for its expiry, and then the output of serialize. So this store and Laravel's
// can read each other's files.

use function Icecore\serialize;
use function Icecore\unserialize;

final class FileStore
{
    /** @param string[] $classes names and patterns */
    public function __construct(private string $folder, private array $classes = [])
    {
    }

    public function get(string $key): mixed
    {
        $entry = @file_get_contents($this->path($key));
        if ($entry === false || (int) substr($entry, 0, 10) <= time()) {
            return null;
        }
        $text = substr($entry, 10);
        // A damaged file is a miss, like a missing one. A class that is not allowed throws an
        // exception.
        $value = @unserialize($text, ['classes' => $this->classes]);
        return $value === false && $text !== 'b:0;' ? null : $value;
    }

    public function put(string $key, mixed $value, int $seconds): bool
    {
        return file_put_contents($this->path($key), sprintf('%010d', time() + $seconds)
            . serialize($value), LOCK_EX) !== false;
    }

    public function remember(string $key, int $seconds, Closure $make): mixed
    {
        $value = $this->get($key);
        if ($value === null) {
            $this->put($key, $value = $make(), $seconds);
        }
        return $value;
    }

    public function increment(string $key, int $by = 1): int
    {
        $this->put($key, $value = (int) $this->get($key) + $by, 3600);
        return $value;
    }

    public function forget(string $key): bool
    {
        return @unlink($this->path($key));
    }

    public function path(string $key): string
    {
        return $this->folder . '/' . sha1($key);
    }
}

enum Plan: string
{
    case Free = 'free';
    case Paid = 'paid';
}

class User
{
    protected array $attributes = [];

    public function __construct(array $attributes)
    {
        $this->attributes = $attributes;
    }

    public function __get(string $name): mixed
    {
        return $this->attributes[$name];
    }
}

$folder = sys_get_temp_dir() . '/icecore-store-' . bin2hex(random_bytes(6));
mkdir($folder);
$store = new FileStore($folder, [User::class, Plan::class]);

$make = function () {
    echo "made, ";
    return new User(['name' => 'Alice', 'plan' => Plan::Paid]);
};
for ($i = 0; $i < 2; $i++) {
    $user = $store->remember('user:1', 60, $make);
    echo "{$user->name}, {$user->plan->value}\n";
}
$store->increment('hits');
echo 'hits: ', $store->increment('hits', 4), "\n";
$store->put('no', false, 60);
echo 'false: ', var_export($store->get('no'), true), "\n";
$store->put('old', 'gone', -1);
echo 'too old: ', var_export($store->get('old'), true), "\n";

// Files that other programs wrote into the folder.
file_put_contents($store->path('damaged'), '9999999999a:1:{i:0;s:5:"tr');
echo 'damaged: ', var_export($store->get('damaged'), true), "\n";
file_put_contents($store->path('theirs'), '9999999999' . \serialize(['written' => 'by PHP']));
echo 'by PHP: ', json_encode($store->get('theirs')), "\n";
file_put_contents($store->path('planted'),
    '9999999999a:1:{s:4:"user";O:13:"SplFileObject":1:{s:1:"f";s:11:"/etc/passwd";}}');
try {
    $store->get('planted');
    echo "planted: built\n";
} catch (Icecore\ClassException $e) {
    echo "planted: refused at $e->path\n";
}
foreach (['user:1', 'hits', 'no', 'old', 'damaged', 'theirs', 'planted'] as $key) {
    $store->forget($key);
}
rmdir($folder);
