<?php
// Writes random values to Redis with phpredis and random options, as sessions, and with the caches and
// queues of Laravel and Symfony; reports what it wrote.
//
// redis.php PORT DATABASE SEED COUNT

require __DIR__ . '/values.php';
[, $port, $database, $seed, $count] = $argv;
mt_srand((int) $seed);

function client(int $serializer = Redis::SERIALIZER_NONE, int $compression = Redis::COMPRESSION_NONE): Redis
{
    global $port, $database;
    $redis = new Redis();
    $redis->connect('127.0.0.1', (int) $port);
    $redis->select((int) $database);
    $redis->setOption(Redis::OPT_SERIALIZER, $serializer);
    $redis->setOption(Redis::OPT_COMPRESSION, $compression);
    return $redis;
}

$none = client();
$writers = ['phpredis' => function (string $key) use ($none): void {
    $serializers = [Redis::SERIALIZER_NONE, Redis::SERIALIZER_PHP, Redis::SERIALIZER_IGBINARY, Redis::SERIALIZER_JSON];
    $serializer = $serializers[mt_rand(0, 3)];
    if ($serializer === Redis::SERIALIZER_NONE) {
        $word = word();
        $none->set($key, $word);
        told($key, $word);
        return;
    }
    $redis = client($serializer, mt_rand(0, 3));
    // JSON of a single word or number is just a text.
    $value = $serializer === Redis::SERIALIZER_JSON ? map() : value();
    mt_rand(0, 1) ? $redis->set($key, $value) : $redis->setex($key, 1000, $value);
    // phpredis 5.3.7 itself reads JSON as a text if it was compressed with LZF.
    $read = fn ($found) => $serializer === Redis::SERIALIZER_JSON ? $value : $found;
    told($key, $read($redis->get($key)));
    switch (mt_rand(0, 5)) {
        case 0:
            $redis->hSet("$key:h", 'field', $value);
            told("$key:h", $read($redis->hGet("$key:h", 'field')));
            break;
        case 1:
            $redis->rPush("$key:l", $value);
            told("$key:l", $read($redis->lIndex("$key:l", 0)));
            break;
        case 2:
            $redis->zAdd("$key:z", 1.5, $value);
            told("$key:z", $read($redis->zRange("$key:z", 0, 0)[0]));
            break;
    }
}];

$writers['session'] = function (string $key) use ($port, $database): void {
    $handlers = ['php', 'php_binary', 'php_serialize', 'igbinary'];
    ini_set('session.serialize_handler', $handlers[mt_rand(0, 3)]);
    session_id(str_replace([':', '.'], '-', $key));
    session_start();
    $_SESSION = map();
    told('PHPREDIS_SESSION:' . session_id(), $_SESSION, 'php-session');
    session_write_close();
};
ini_set('session.use_cookies', '0');
ini_set('session.cache_limiter', '');
ini_set('session.save_handler', 'redis');
ini_set('session.save_path', "tcp://127.0.0.1:$port?database=$database");

if (@include '/usr/share/php/Illuminate/Cache/autoload.php') {
    // Replaces Illuminate\Redis for the store and the queue: a connection of phpredis.
    class Connection
    {
        public function __construct(private Redis $redis) {}
        public function eval(string $script, int $keys, ...$arguments)
        {
            return $this->redis->eval($script, $arguments, $keys);
        }
        public function __call(string $name, array $arguments)
        {
            return $this->redis->$name(...$arguments);
        }
    }
    class Factory implements Illuminate\Contracts\Redis\Factory
    {
        public function __construct(private Redis $redis) {}
        public function connection($name = null)
        {
            return new Connection($this->redis);
        }
    }
    $store = new Illuminate\Cache\RedisStore(new Factory($none), 'app_cache');
    $writers['laravel'] = function (string $key) use ($store): void {
        $value = value();
        mt_rand(0, 1) ? $store->put($key, $value, 1000) : $store->forever($key, $value);
        $value = $store->get($key);
        // Numbers are stored as text.
        told("app_cache:$key", is_int($value) || is_float($value) ? (string) $value : $value, 'laravel-cache');
    };
    if (@include '/usr/share/php/Illuminate/Queue/autoload.php') {
        class Job
        {
            public function __construct(public array $data) {}
            public function handle(): void {}
        }
        $queue = new Illuminate\Queue\RedisQueue(new Factory($none));
        $queue->setContainer(new Illuminate\Container\Container());
        $writers['laravel-queue'] = function (string $key) use ($queue, $none): void {
            $name = str_replace(':', '-', $key);
            $job = new Job(map());
            mt_rand(0, 1) ? $queue->push($job, '', $name) : $queue->later(1000, $job, '', $name);
            foreach (["queues:$name" => 'lRange', "queues:$name:delayed" => 'zRange'] as $at => $read) {
                foreach ($none->$read($at, 0, -1) as $payload) {
                    told($at, json_decode($payload, true), 'laravel-queue');
                }
            }
        };
    }
} else {
    fwrite(STDERR, "left out: php-illuminate-cache is missing\n");
}

if (@include '/usr/share/php/Symfony/Component/Cache/autoload.php') {
    $writers['symfony'] = function (string $key) use ($none): void {
        $marshaller = new Symfony\Component\Cache\Marshaller\DefaultMarshaller((bool) mt_rand(0, 1));
        $cache = new Symfony\Component\Cache\Adapter\RedisAdapter($none, 'pool', 0, $marshaller);
        $key = str_replace(':', '.', $key);
        $value = value();
        $item = $cache->getItem($key)->set($value);
        $cache->save(mt_rand(0, 1) ? $item->expiresAfter(1000) : $item);
        told("pool:$key", $value);
    };
} else {
    fwrite(STDERR, "left out: php-symfony-cache is missing\n");
}

if (@include '/usr/share/php/Symfony/Component/Messenger/autoload.php') {
    $writers['messenger'] = function (string $key) use ($port, $database, $none): void {
        $options = ['stream' => $key, 'dbindex' => (int) $database, 'delete_after_ack' => true];
        $connection = Symfony\Component\Messenger\Bridge\Redis\Transport\Connection::fromDsn("redis://127.0.0.1:$port", $options);
        $connection->add(serialize(map()), ['type' => 'Ping']);
        // The client of the transport serializes the JSON.
        told($key, unserialize(current($none->xRange($key, '-', '+'))['message']), 'symfony-messenger');
    };
} else {
    fwrite(STDERR, "left out: php-symfony-messenger is missing\n");
}

$names = array_keys($writers);
for ($at = 0; $at < $count; $at++) {
    $name = $names[$at % count($names)];
    $writers[$name]("$name:$seed:$at");
}
