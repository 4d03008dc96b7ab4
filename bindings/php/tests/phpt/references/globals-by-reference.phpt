--TEST--
References to a static variable are written with its value
--FILE--
<?php
function counter()
{
    static $n = 0;
    $n++;
    return [&$n, &$n];
}
$a = counter();
echo $s = serialize($a), "\n";
counter();
echo serialize($a), "\n";
?>
--EXPECT--
a:2:{i:0;i:1;i:1;R:2;}
a:2:{i:0;i:2;i:1;R:2;}
