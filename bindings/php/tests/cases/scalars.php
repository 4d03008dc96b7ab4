<?php
// Values without classes, well-formed and malformed. Each text is one case.

declare(strict_types=1);

$texts = ['N;', 'b:0;', 'b:1;', 'b:2;', 'b:01;', 'b:;', 'b:1', 'B:1;', 'i:0;', 'i:-0;', 'i:+5;', 'i:007;', 'i:-;', 'i:;', 'i:5', 'i: 5;', 'i:5 ;', 'i:9223372036854775807;', 'i:9223372036854775808;', 'i:-9223372036854775808;', 'i:-9223372036854775809;', 'i:1e3;', 'I:5;',
    'd:0;', 'd:-0;', 'd:0.1;', 'd:.5;', 'd:5.;', 'd:1.0E+25;', 'd:1e25;', 'd:1E-7;', 'd:INF;', 'd:-INF;', 'd:NAN;', 'd:inf;', 'd:+INF;', 'd:nan;', 'd:1e999;', 'd:;', 'd:.;', 'd:1.5', 'd:0x1;', 'd:5;', 'd:+.5e+3;',
    's:0:"";', 's:1:"a";', 's:3:"abc";', 's:2:"abc";', 's:4:"abc";', 's:3:"abc"', 's:3:"abc', 's:+3:"abc";', 's:-1:"a";', 's:03:"abc";', 's:3:abc;', "s:3:'abc';", 's:99999999999999999999:"a";', 's:3:"a"c";', "s:2:\"\0\xff\";", 'S:1:"a";', 'S:1:"\61";', 'S:2:"\61b";', 'S:1:"\6";', 'S:1:"\zz";', 'S:3:"\00\ff\0a";',
    'a:0:{}', 'a:1:{i:0;i:1;}', 'a:1:{i:0;i:1;', 'a:1:{i:0;}', 'a:1:{}', 'a:0:{i:0;i:1;}', 'a:-1:{}', 'a:+1:{i:0;i:1;}', 'a:01:{i:0;i:1;}', 'a:2:{i:0;i:1;}', 'a:1:{i:0;i:1;}}', 'a:1000000000:{}', 'a:1:{N;i:1;}', 'a:1:{b:1;i:1;}', 'a:1:{d:1.5;i:1;}', 'a:1:{a:0:{}i:1;}',
    'a:2:{i:0;i:1;i:0;i:2;}', 'a:3:{s:1:"a";i:1;s:1:"b";i:2;s:1:"a";i:3;}', 'a:2:{i:5;i:1;s:1:"5";i:2;}', 'a:1:{s:1:"5";i:1;}', 'a:1:{s:2:"05";i:1;}', 'a:1:{s:2:"-5";i:1;}', 'a:1:{s:2:"-0";i:1;}', 'a:1:{s:19:"9223372036854775807";i:1;}', 'a:1:{s:19:"9223372036854775808";i:1;}', 'a:1:{s:20:"-9223372036854775808";i:1;}', 'a:1:{i:-5;i:1;}', 'a:2:{i:-5;i:1;i:-3;i:2;}', 'a:1:{i:9223372036854775807;i:1;}', 'a:2:{i:1;i:1;i:0;i:2;}', 'a:2:{i:0;i:1;i:5;i:2;}', 'a:1:{S:1:"a";i:1;}', 'a:1:{s:0:"";i:1;}',
    'R:1;', 'r:1;', 'R:0;', 'r:0;', 'R:-1;', 'R:2;', 'a:1:{i:0;R:1;}', 'a:1:{i:0;R:2;}', 'a:1:{i:0;r:1;}', 'a:2:{i:0;i:1;i:1;R:2;}', 'a:2:{i:0;i:1;i:1;r:2;}', 'a:2:{i:0;i:1;i:1;R:3;}', 'a:3:{i:0;a:1:{i:0;i:1;}i:1;R:2;i:2;R:3;}', 'a:3:{i:0;i:1;i:0;i:2;i:1;R:2;}', 'a:3:{i:0;i:1;i:1;R:2;i:0;i:3;}', 'a:2:{i:0;O:8:"stdClass":0:{}i:1;r:2;}', 'a:2:{i:0;O:8:"stdClass":0:{}i:1;R:2;}', 'a:3:{i:0;O:8:"stdClass":0:{}i:1;r:2;i:2;r:3;}', 'a:3:{i:0;O:8:"stdClass":0:{}i:1;r:2;i:2;R:3;}', 'a:3:{i:0;O:8:"stdClass":0:{}i:1;R:2;i:2;r:2;}', 'O:8:"stdClass":1:{s:1:"a";r:1;}', 'O:8:"stdClass":1:{s:1:"a";R:1;}', 'O:8:"stdClass":2:{s:1:"a";i:1;s:1:"b";R:2;}', 'O:8:"stdClass":3:{s:1:"a";i:1;s:1:"a";i:2;s:1:"b";R:2;}',
    '', ';', 'x', 'N', 'N ;', ' N;', 'N;N;', 'i:1;garbage', "\0", 'a', 'a:', 'O:', 'O:8:"stdClass":0:{};', 'o:0:{}', 'C:8:"stdClass":0:{}', 'C:8:"stdClass":1:{x}', 'E:3:"A:B";', 'E:1:"A";', 'E:0:"";', 'E:9:"stdClass:";'];
$cases = [];
foreach ($texts as $text) {
    $cases["read $text"] = '$show($u(' . var_export($text, true) . '));';
}
foreach (['0', '-0.0', '0.1', '0.1 + 0.2', '1e15', '1e16', '1e17', '1e-4', '1e-5', '1e100', 'NAN', '-INF', 'PHP_INT_MIN', '"a\0b"', '[]', '[1 => 1, 0 => 2]', '["5" => 1, "05" => 2]', '[[[]]]', 'STDIN', '[1.0, 1, "1", true, null]'] as $value) {
    $cases["write $value"] = "\$say(\$s($value));";
}
foreach ([17, 14, 0, 5] as $precision) {
    $cases["serialize_precision $precision"] = "ini_set('serialize_precision', '$precision'); try { \$say(\$s([0.1, 1/3, 1e20, 100000.0, -0.0])); } finally { ini_set('serialize_precision', '-1'); }";
}
foreach (['0', '1', '2', '-1', '"x"', 'null', '1.5', '[]'] as $depth) {
    $cases["max_depth $depth"] = "\$try(fn () => \$u('a:1:{i:0;a:1:{i:0;i:1;}}', ['max_depth' => $depth]));";
}
$cases['max_depth of objects'] = '$try(fn () => $u(\'O:8:"stdClass":1:{s:1:"a";O:8:"stdClass":0:{}}\', ["max_depth" => 1]));';
$cases['max_depth by ini'] = 'ini_set("unserialize_max_depth", "2"); try { $show($u(str_repeat("a:1:{i:0;", 3) . "N;" . str_repeat("}", 3))); } finally { ini_set("unserialize_max_depth", "4096"); }';
foreach (['true', 'false', '[]', '["stdClass"]', '["STDCLASS"]', '["other"]', 'null', '1', '"stdClass"', '[5]', '[null]', '[[]]', 'new stdClass', '["bad name"]', '[""]', '["a", 1.5]', '[new stdClass]'] as $allowed) {
    $cases["allowed_classes $allowed"] = "\$try(fn () => \$u('a:2:{i:0;O:8:\"stdClass\":1:{s:1:\"a\";i:1;}i:1;r:2;}', ['allowed_classes' => $allowed]));";
}
return $cases;
