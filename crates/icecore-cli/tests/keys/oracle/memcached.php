<?php
// Writes random values to memcached with both extensions of PHP and random options; reports what it
// wrote.
//
// memcached.php PORT PREFIX SEED COUNT

require __DIR__ . '/values.php';
[, $port, $prefix, $seed, $count] = $argv;
mt_srand((int) $seed);

// Both extensions store scalar values as text.
function kept($value)
{
    return is_array($value) || $value === null ? $value : (string) $value;
}

$writers = [];
if (class_exists('Memcached')) {
    $writers[] = function (string $key) use ($port): void {
        $cache = new Memcached();
        $cache->addServer('127.0.0.1', (int) $port);
        $serializers = [Memcached::SERIALIZER_PHP, Memcached::SERIALIZER_IGBINARY, Memcached::SERIALIZER_JSON_ARRAY];
        $serializer = $serializers[mt_rand(0, 2)];
        $cache->setOption(Memcached::OPT_SERIALIZER, $serializer);
        $cache->setOption(Memcached::OPT_COMPRESSION, (bool) mt_rand(0, 3));
        $cache->setOption(Memcached::OPT_COMPRESSION_TYPE, mt_rand(0, 1) ? Memcached::COMPRESSION_ZLIB : Memcached::COMPRESSION_FASTLZ);
        $value = $serializer === Memcached::SERIALIZER_JSON_ARRAY ? map() : value();
        // Long values are compressed in another way.
        if (mt_rand(0, 30) === 0) {
            for ($value = [], $n = mt_rand(1000, 4000); $n > 0; $n--) {
                $value[] = word();
            }
        }
        if (!$cache->set($key, $value, mt_rand(0, 1) * 1000)) {
            return;
        }
        $value = $cache->get($key);
        // Its floats have no zero before the point.
        $cache->quit();
        told($key, is_float($value) ? preg_replace('/^(-?)0\./', '$1.', (string) $value) : kept($value));
    };
    $writers[] = function (string $key) use ($port): void {
        ini_set('memcached.sess_persistent', '1');
        ini_set('session.use_cookies', '0');
        ini_set('session.cache_limiter', '');
        ini_set('session.save_handler', 'memcached');
        ini_set('session.save_path', "127.0.0.1:$port");
        ini_set('session.serialize_handler', ['php', 'php_binary', 'php_serialize', 'igbinary'][mt_rand(0, 3)]);
        session_id(str_replace([':', '.'], '-', $key));
        session_start();
        $_SESSION = map();
        told('memc.sess.key.' . session_id(), $_SESSION, 'php-session');
        session_write_close();
    };
} else {
    fwrite(STDERR, "left out: php-memcached is missing\n");
}
if (class_exists('Memcache')) {
    $writers[] = function (string $key) use ($port): void {
        $cache = new Memcache();
        $cache->connect('127.0.0.1', (int) $port);
        $value = value();
        if ($cache->set($key, $value, mt_rand(0, 1) * MEMCACHE_COMPRESSED)) {
            told($key, is_bool($value) ? (string) (int) $value : kept($value));
        }
        $cache->close();
    };
} else {
    fwrite(STDERR, "left out: php-memcache is missing\n");
}
for ($at = 0; $at < $count && $writers; $at++) {
    $writers[$at % count($writers)]("$prefix-$at");
}
