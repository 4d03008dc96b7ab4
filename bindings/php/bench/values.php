<?php
// The values that bench.php measures, and their classes.

namespace IcecoreBench;

final class Employee
{
    public function __construct(
        public readonly int $id,
        public readonly string $name,
        public readonly int $age,
    ) {
    }
}

class PlainEmployee
{
    public $id;
    public $name;
    public $age;
}

class Address
{
    public function __construct(protected string $street, protected string $city)
    {
    }
}

class Item
{
    public $sku;
    public $quantity;
    private $price;

    public function __construct($sku, $quantity, $price)
    {
        [$this->sku, $this->quantity, $this->price] = [$sku, $quantity, $price];
    }
}

class Order
{
    private array $items = [];
    protected ?Address $address;
    public int $number;
    public bool $paid;

    public function __construct(int $number)
    {
        $this->number = $number;
        $this->paid = $number % 3 > 0;
        $this->address = new Address("Street $number", 'Town ' . $number % 17);
        for ($i = 0; $i < 3; $i++) {
            $this->items[] = new Item("sku-$number-$i", $i + 1, 9.5 + $i);
        }
    }
}

function typed(int $count): array
{
    return array_map(fn ($i) => new Employee($i, "Employee_$i", 20 + $i % 50), range(1, $count));
}

function plain(int $count): array
{
    return array_map(function ($i) {
        $employee = new PlainEmployee();
        [$employee->id, $employee->name, $employee->age] = [$i, "Employee_$i", 20 + $i % 50];
        return $employee;
    }, range(1, $count));
}

function rows(int $count): array
{
    return array_map(fn ($i) => ['id' => $i, 'name' => "Employee_$i", 'age' => 20 + $i % 50], range(1, $count));
}

// Options as WordPress keeps them in its table and reads at each request.
function options(): array
{
    $roles = $rules = $widgets = $cron = [];
    $capabilities = ['read', 'edit_posts', 'edit_pages', 'edit_others_posts', 'publish_posts', 'manage_options',
        'upload_files', 'delete_posts',
        'delete_pages', 'moderate_comments', 'manage_categories', 'manage_links', 'unfiltered_html',
        'edit_published_posts'];
    foreach (['administrator', 'editor', 'author', 'contributor', 'subscriber'] as $rank => $role) {
        $roles[$role] = ['name' => ucfirst($role),
            'capabilities' => array_fill_keys(array_slice($capabilities, 0, 14 - 3 * $rank), true)];
    }
    foreach (['category', 'tag', 'type', 'author', 'page', 'search', 'date', 'attachment', 'feed', 'embed',
        'comments', 'product'] as $of) {
        foreach (['/feed/(feed|rdf|rss|rss2|atom)/?$' => 'feed=$matches[2]',
            '/(feed|rdf|rss|rss2|atom)/?$' => 'feed=$matches[2]',
            '/embed/?$' => 'embed=true', '/page/?([0-9]{1,})/?$' => 'paged=$matches[2]',
            '/?$' => ''] as $rule => $query) {
            $rules["$of/(.+?)$rule"] = "index.php?{$of}_name=\$matches[1]&$query";
        }
    }
    foreach (['text', 'archives', 'search', 'recent-posts', 'categories', 'meta', 'nav_menu',
        'custom_html'] as $kind) {
        for ($i = 2; $i < 9; $i++) {
            $widgets["widget_$kind"][$i] = ['title' => ucfirst($kind) . " $i",
                'text' => str_repeat("About $kind. ", 8), 'filter' => $i % 2 > 0,
                'count' => $i, 'dropdown' => 0];
        }
        $widgets["widget_$kind"]['_multiwidget'] = 1;
    }
    for ($i = 0; $i < 14; $i++) {
        $job = ['schedule' => 'twicedaily', 'args' => [], 'interval' => 43200 + $i];
        $cron[1700000000 + 3600 * $i]["wp_job_$i"][md5("job $i")] = $job;
    }
    return ['siteurl' => 'https://example.org', 'blogname' => 'A site', 'posts_per_page' => 10, 'gmt_offset' => 1.5,
        'wp_user_roles' => $roles,
        'rewrite_rules' => $rules, 'cron' => $cron] + $widgets;
}

// The names of the shapes, and the goals: the factors by which reading and writing should be faster than
// in PHP.
const SHAPES = [
    '10,000 typed readonly objects' => [4, 1.6],
    '10,000 plain objects' => [2.4, 1.5],
    'nested objects' => [2.3, 2.5],
    '22 KB options array' => [1.25, 1.5],
    '1000 ints' => [2.5, 2],
    '100,000 rows' => [1.5, 1.6],
    'small: list of 3' => [1, 1],
    'small: flat hash' => [1, 1],
    'small: session' => [1, 1],
    'small: one object' => [1, 1],
];

function shape(string $name): mixed
{
    return match ($name) {
        '10,000 typed readonly objects' => typed(10_000),
        '10,000 plain objects' => plain(10_000),
        'nested objects' => array_map(fn ($i) => new Order($i), range(1, 1_000)),
        '22 KB options array' => options(),
        '1000 ints' => range(1000, 1999),
        '100,000 rows' => rows(100_000),
        'small: list of 3' => [1, 'two', ['three' => 4]],
        'small: flat hash' => ['title' => 'hoge', 'author' => 'fuga', 'body' => 'hogehoge', 'year' => 2024],
        'small: session' =>
            ['user_id' => 4711, 'token' => str_repeat('ab', 16), 'cart' => [12 => 1, 40 => 2], 'flash' => [],
            'locale' => 'de_DE'],
        'small: one object' => new Employee(17, 'Employee_17', 37),
    };
}
