--TEST--
Sessions build objects of all classes
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
--FILE--
<?php
class Known
{
    private $a = 1;

    function a() { return $this->a; }
}
session_start();
session_decode("k|O:5:\"Known\":1:{s:8:\"\0Known\0a\";i:7;}");
var_dump($_SESSION['k']->a());
session_abort();
?>
--EXPECT--
int(7)
