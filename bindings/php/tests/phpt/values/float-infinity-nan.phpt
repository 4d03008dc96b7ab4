--TEST--
INF, -INF and NAN are written by name
--FILE--
<?php
echo serialize([INF, -INF, NAN]), "\n";
var_dump(unserialize('a:3:{i:0;d:INF;i:1;d:-INF;i:2;d:NAN;}'));
?>
--EXPECT--
a:3:{i:0;d:INF;i:1;d:-INF;i:2;d:NAN;}
array(3) {
  [0]=>
  float(INF)
  [1]=>
  float(-INF)
  [2]=>
  float(NAN)
}
