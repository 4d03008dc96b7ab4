--TEST--
A link in a session can refer to each other variable
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
--FILE--
<?php
session_start();
$lost = 0;
for ($n = 1; $n <= 33; $n++) {
    for ($i = 0; $i < $n; $i++) {
        $text = '';
        for ($k = 0; $k < $n; $k++) {
            $text .= "v$k|i:$k;";
        }
        $_SESSION = [];
        session_decode($text . 'link|R:' . ($i + 1) . ';');
        $_SESSION['link'] = 'new';
        $lost += $_SESSION["v$i"] !== 'new';
    }
}
session_abort();
var_dump($lost);
?>
--EXPECT--
int(0)
