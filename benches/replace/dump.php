<?php
// Makes a dump of a WordPress site as mariadb-dump writes it, and the same dump with the address of
// the site replaced: in live values, which are then serialized and escaped again.
//
//   php dump.php MEGABYTES FOLDER
//
// FOLDER gets before.sql and after.sql, and in before.cells and after.cells every text of each,
// after its length in four bytes, for programs that don't read SQL. Each row is on a line of its
// own, so that rows can be compared by lines. The same arguments give the same bytes.
[, $megabytes, $folder] = $argv;
const BEFORE = 'https://old.example.com';
const AFTER = 'https://www.new-example.org';

mt_srand(21);
$files = array_map(fn ($name) => fopen("$folder/$name", 'wb'), ['before.sql', 'after.sql', 'before.cells', 'after.cells']);
$written = 0;

function pick(array $from) { return $from[mt_rand(0, count($from) - 1)]; }

$words = explode(' ', 'the a of and to in is you that it was for on are as with his they at be this from have or by one had not '
    . 'but what all were when we there can an your which their said if do will each about how up out them then she many some so '
    . 'these would other into has more her two like him see time could no make than first been its who now people my made over '
    . "did down only way find use may water long little very after words called just where most know café naïve “quoted” it's");

function text(int $count): string {
    global $words;
    $text = '';
    while ($count-- > 0) $text .= pick($words) . ' ';
    return $text;
}

function address(string $site): string {
    return $site . '/wp-content/uploads/20' . mt_rand(10, 26) . '/' . mt_rand(10, 12) . '/picture-' . mt_rand(1, 99999) . '.jpg';
}

// The same value for both sites: random values are drawn once.
function both(callable $make): array {
    $seed = mt_rand();
    mt_srand($seed);
    $one = $make(BEFORE);
    mt_srand($seed);
    $two = $make(AFTER);
    return [$one, $two];
}

function html(string $site, int $paragraphs): string {
    $html = '';
    while ($paragraphs-- > 0) {
        $html .= "<!-- wp:paragraph -->\n<p class=\"has-text\">" . text(mt_rand(20, 120)) . "</p>\n<!-- /wp:paragraph -->\n\n";
        if (mt_rand(0, 2) === 0) {
            $html .= '<!-- wp:image {"id":' . mt_rand(1, 9999) . "} -->\n<figure><img src=\"" . address($site) . "\" alt=\"" . text(3) . "\"/></figure>\n<!-- /wp:image -->\n";
        }
    }
    return $html;
}

class Widget { public $title; protected $link; private $settings = []; public $rate = 0.1; public $self;
    function __construct($site) { $this->title = text(3); $this->link = $site . '/' . mt_rand(); $this->settings = ['css' => "a{background:url('" . address($site) . "')}\";}", 'n' => mt_rand() / 7]; $this->self = $this; } }

function options(string $site, int $entries): array {
    $options = [];
    for ($i = 0; $i < $entries; $i++) {
        $options['option_' . $i] = match (mt_rand(0, 9)) {
            0 => address($site), 1 => mt_rand(), 2 => (bool) mt_rand(0, 1), 3 => mt_rand() / 1000, 4 => null,
            5 => ['url' => $site . '/?p=' . mt_rand(1, 999), 'title' => text(4), 'sizes' => [mt_rand(1, 999), mt_rand(1, 999)]],
            6 => text(mt_rand(1, 30)),
            7 => serialize(['once more' => address($site), 'n' => mt_rand()]),
            8 => json_encode(['image' => address($site), 'text' => text(3)]),
            9 => new Widget($site),
        };
    }
    return $options;
}

function blocks(string $site): string {
    $blocks = [];
    for ($i = mt_rand(1, 12); $i > 0; $i--) {
        $blocks[] = ['id' => dechex(mt_rand()), 'elType' => 'widget', 'settings' => ['title' => text(3), 'image' => ['url' => address($site), 'id' => mt_rand()],
            'link' => ['url' => $site . '/page-' . mt_rand(), 'is_external' => '']], 'elements' => []];
    }
    return json_encode($blocks);
}

function literal(int|string|null $value): string {
    if ($value === null) return 'NULL';
    if (is_int($value)) return (string) $value;
    return "'" . strtr($value, ["\0" => '\0', "\n" => '\n', "\r" => '\r', '\\' => '\\\\', "'" => "\\'", '"' => '\"', "\x1a" => '\Z']) . "'";
}

function table(string $name, array $columns, int $rows, callable $row): void {
    global $files, $written;
    $define = '';
    foreach ($columns as $column => $type) $define .= "  `$column` $type,\n";
    $head = "\n--\n-- Table structure for table `$name`\n--\n\nDROP TABLE IF EXISTS `$name`;\nCREATE TABLE `$name` (\n$define  PRIMARY KEY (`" . array_key_first($columns)
        . "`)\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;\n\nLOCK TABLES `$name` WRITE;\n";
    fwrite($files[0], $head);
    fwrite($files[1], $head);
    $length = 0;
    for ($i = 0; $i < $rows; $i++) {
        [$one, $two] = both(fn ($site) => $row($site, $i + 1));
        $begin = $length === 0 ? "INSERT INTO `$name` VALUES\n" : ",\n";
        $text = '(' . implode(',', array_map('literal', $one)) . ')';
        $length += strlen($text);
        // As in mariadb-dump: statements of at most about a megabyte.
        $end = $length > 1_000_000 || $i + 1 === $rows ? ";\n" : '';
        if ($end !== '') $length = 0;
        $written += strlen($begin) + fwrite($files[0], $begin . $text . $end);
        fwrite($files[1], $begin . '(' . implode(',', array_map('literal', $two)) . ')' . $end);
        foreach ([2 => $one, 3 => $two] as $file => $cells) {
            foreach (array_filter($cells, 'is_string') as $cell) fwrite($files[$file], pack('N', strlen($cell)) . $cell);
        }
    }
    fwrite($files[0], "UNLOCK TABLES;\n");
    fwrite($files[1], "UNLOCK TABLES;\n");
}

foreach ([0, 1] as $file) fwrite($files[$file], "-- MariaDB dump 10.19  Distrib 10.11.6-MariaDB, for debian-linux-gnu (x86_64)\n--\n-- Host: localhost    Database: wordpress\n\n/*!40101 SET NAMES utf8mb4 */;\n");

// A hundredth of the total in each turn, in the proportions of real sites.
for ($turn = 0; $written < $megabytes * 1e6; $turn++) {
    $blog = $turn === 0 ? 'wp_' : "wp_{$turn}_";
    table($blog . 'posts', ['ID' => 'bigint(20)', 'post_author' => 'bigint(20)', 'post_date' => 'datetime', 'post_content' => 'longtext', 'post_title' => 'text',
        'post_status' => 'varchar(20)', 'post_name' => 'varchar(200)', 'guid' => 'varchar(255)'], 800,
        fn ($site, $id) => [$id, mt_rand(1, 9), '2026-01-02 03:04:05', html($site, mt_rand(1, 12)), text(5), 'publish', 'post-' . $id, $site . '/?p=' . $id]);
    table($blog . 'postmeta', ['meta_id' => 'bigint(20)', 'post_id' => 'bigint(20)', 'meta_key' => 'varchar(255)', 'meta_value' => 'longtext'], 6000,
        fn ($site, $id) => [$id, mt_rand(1, 800), ...match (mt_rand(0, 5)) {
            0 => ['_wp_attachment_metadata', serialize(['width' => mt_rand(1, 4000), 'height' => mt_rand(1, 4000), 'file' => '2026/01/picture.jpg', 'sizes' => ['thumbnail' => ['file' => 'picture-150x150.jpg', 'width' => 150, 'height' => 150, 'mime-type' => 'image/jpeg']], 'image_meta' => ['aperture' => '0', 'credit' => '', 'source' => address($site)]])],
            1 => ['_elementor_data', blocks($site)], 2 => ['_edit_lock', mt_rand() . ':1'], 3 => ['_thumbnail_id', (string) mt_rand(1, 9999)],
            4 => ['_menu_item_url', $site . '/page-' . mt_rand()], 5 => ['_wp_attached_file', '2026/01/picture-' . mt_rand() . '.jpg'] }]);
    table($blog . 'options', ['option_id' => 'bigint(20)', 'option_name' => 'varchar(191)', 'option_value' => 'longtext', 'autoload' => 'varchar(20)'], 300,
        fn ($site, $id) => [$id, 'option_' . $id, mt_rand(0, 3) === 0 ? address($site) : serialize(options($site, mt_rand(1, 60))), 'yes']);
    table($blog . 'comments', ['comment_ID' => 'bigint(20)', 'comment_author_url' => 'varchar(200)', 'comment_content' => 'text', 'comment_parent' => 'bigint(20)'], 2000,
        fn ($site, $id) => [$id, mt_rand(0, 9) === 0 ? $site . '/' : '', text(mt_rand(5, 80)), 0]);
}
array_map('fclose', $files);
