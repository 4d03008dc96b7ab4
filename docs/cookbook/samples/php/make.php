<?php
// Makes the samples of the cookbook's PHP page, in the shapes that WordPress,
// Laravel, Symfony and PHP itself use. Run it anywhere; it writes beside itself.

namespace App\Models {
    class User
    {
        public int $id = 0;
        protected string $name = '';
        private array $roles = [];

        public function __construct(int $id, string $name, array $roles)
        {
            [$this->id, $this->name, $this->roles] = [$id, $name, $roles];
        }
    }
}

namespace App\Jobs {
    class SendInvoice
    {
        public $order;
        protected string $locale = 'de';
        private int $tries = 3;
        public $queue = 'mail';
        public $delay = null;

        public function __construct($order)
        {
            $this->order = $order;
        }
    }
}

namespace App\Message {
    class Ping
    {
        private string $text = 'it\'s "alive"';
    }
}

namespace Illuminate\Contracts\Database {
    class ModelIdentifier
    {
        public $class = 'App\Models\Order';
        public $id = 4711;
        public $relations = [];
        public $connection = 'mysql';
        public $collectionClass = null;
    }
}

namespace Symfony\Component\Messenger {
    class Envelope
    {
        private array $stamps = [];
        private object $message;

        public function __construct(object $message)
        {
            $this->message = $message;
        }
    }
}

namespace {
    ini_set('serialize_precision', '-1');
    chdir(__DIR__);

    function json(string $file, $value): void
    {
        file_put_contents($file, json_encode($value, JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE) . "\n");
    }

    // -- WordPress: what `wp option list --format=json` prints ----------------

    $theme_mods = [
        0 => false,
        'nav_menu_locations' => ['primary' => 2, 'footer' => 0],
        'custom_css_post_id' => -1,
        'header_textcolor' => '1e73be',
        'custom_logo' => 17,
        'sidebars_widgets' => ['time' => 1700000000, 'data' => ['wp_inactive_widgets' => [], 'sidebar-1' => ['text-2']]],
    ];
    $widget_text = [
        2 => ['title' => 'Über uns', 'text' => "Visit <a href=\"http://shop.example/\">our shop</a>!\n", 'filter' => true, 'visual' => true],
        '_multiwidget' => 1,
    ];
    $update = new stdClass();
    $update->updates = [(object) ['response' => 'latest', 'current' => '6.4.3', 'packages' => (object) ['full' => 'http://shop.example/6.4.3.zip', 'rollback' => false]]];
    $update->last_checked = 1700000042;
    $update->version_checked = '6.4.3';
    $options = [
        'siteurl' => 'http://shop.example',
        'blogname' => 'The Shop',
        'posts_per_page' => '10',
        'sidebars_widgets' => serialize(['wp_inactive_widgets' => [], 'sidebar-1' => ['search-2', 'text-2'], 'array_version' => 3]),
        'widget_text' => serialize($widget_text),
        'rewrite_rules' => serialize([
            '^wp-json/?$' => 'index.php?rest_route=/',
            'category/(.+?)/?$' => 'index.php?category_name=$matches[1]',
            '([0-9]{4})/([0-9]{1,2})/?$' => 'index.php?year=$matches[1]&monthnum=$matches[2]',
        ]),
        'theme_mods_twentytwentyfour' => serialize($theme_mods),
        '_transient_timeout_feed_ac0b' => '1700003600',
        '_transient_feed_ac0b' => serialize(['title' => 'News', 'items' => [['id' => 1, 'score' => 0.1], ['id' => 2, 'score' => 1.0E+25]]]),
        '_site_transient_update_core' => serialize($update),
        'active_plugins' => serialize(['akismet/akismet.php', 'shop/shop.php']),
        // A plugin that serializes what update_option() serializes again.
        'shop_settings' => serialize(serialize(['currency' => 'EUR', 'rates' => ['de' => 19, 'at' => 20]])),
        'shop_is_open' => serialize(serialize(true)),
    ];
    $rows = [];
    foreach ($options as $name => $value) {
        $rows[] = ['option_name' => $name, 'option_value' => $value, 'autoload' => 'yes'];
    }
    json('wp_options.json', $rows);
    file_put_contents('widget_text.txt', serialize($widget_text));
    // What happens when the whole database dump is searched and replaced.
    file_put_contents('moved.txt', str_replace('http://shop.example', 'https://www.shop.example', serialize($widget_text)));

    // -- Laravel --------------------------------------------------------------

    $jobs = [];
    foreach ([1, 2] as $id) {
        $order = new Illuminate\Contracts\Database\ModelIdentifier();
        $order->id = 4710 + $id;
        $jobs[] = [
            'id' => $id,
            'queue' => 'mail',
            'payload' => json_encode([
                'uuid' => "7f1f3c1e-0000-4000-8000-00000000000$id",
                'displayName' => 'App\Jobs\SendInvoice',
                'job' => 'Illuminate\Queue\CallQueuedHandler@call',
                'maxTries' => null,
                'data' => ['commandName' => 'App\Jobs\SendInvoice', 'command' => serialize(new App\Jobs\SendInvoice($order))],
            ]),
            'attempts' => 0,
            'created_at' => 1700000000 + $id,
        ];
    }
    json('jobs.json', $jobs);
    @mkdir('cache/6e/0c', 0777, true);
    file_put_contents('cache/6e/0c/6e0c2f8f', '1763812345' . serialize(['user' => new App\Models\User(1, 'Alice', ['admin']), 'hits' => 3]));
    @mkdir('cache/a1/44', 0777, true);
    file_put_contents('cache/a1/44/a144b90d', '9999999999' . serialize('forever'));

    // -- Symfony Messenger ----------------------------------------------------

    file_put_contents('message.txt', addslashes(serialize(new Symfony\Component\Messenger\Envelope(new App\Message\Ping()))));

    // -- PHP itself -----------------------------------------------------------

    $user = new App\Models\User(1, 'Alice', ['admin', 'dev']);
    file_put_contents('user.txt', serialize($user));
    session_start(['save_path' => sys_get_temp_dir(), 'use_cookies' => 0, 'cache_limiter' => '']);
    $_SESSION = ['user' => $user, 'cart' => [['sku' => 'A-1', 'n' => 2]], 'also' => $user, 'seen' => 1700000001];
    file_put_contents('sess_4f2kq7', session_encode());
    session_destroy();
    file_put_contents('config.php', "<?php return " . var_export([
        'app' => ['name' => 'Shop', 'debug' => false, 'rate' => 0.1],
        'hosts' => ['alpha', 'beta'],
        'password' => 'it\'s a \\ secret',
        'owner' => (object) ['name' => 'ops'],
    ], true) . ";\n");
    $queue = new SplQueue();
    $queue->push('first');
    $queue->push(['second', 2]);
    $payload = 'i:4;:s:5:"first";:a:2:{i:0;s:6:"second";i:1;i:2;}';
    file_put_contents('queue.txt', 'C:8:"SplQueue":' . strlen($payload) . ":{{$payload}}");
    if (unserialize(file_get_contents('queue.txt')) != $queue) {
        exit("the queue of PHP 7.3 is not what this PHP reads\n");
    }
    if (function_exists('igbinary_serialize')) {
        file_put_contents('employees.igbinary', igbinary_serialize([
            ['id' => 1, 'name' => 'Alice', 'age' => 30],
            ['id' => 2, 'name' => 'Bob', 'age' => 25],
        ]));
    }
}
