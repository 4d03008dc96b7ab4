--TEST--
INF and NAN are read in upper case only
--FILE--
<?php
foreach (['d:inf;', 'd:nan;', 'd:+INF;', 'd:-NAN;', 'd:INFINITY;'] as $text) {
    echo $text, ' ';
    var_dump(@unserialize($text));
}
?>
--EXPECT--
d:inf; bool(false)
d:nan; bool(false)
d:+INF; bool(false)
d:-NAN; bool(false)
d:INFINITY; bool(false)
