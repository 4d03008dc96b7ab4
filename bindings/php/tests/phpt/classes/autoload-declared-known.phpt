--TEST--
No autoloader is called for a class that exists
--FILE--
<?php
spl_autoload_register(function ($name) {
    echo "load $name\n";
});
unserialize('a:2:{i:0;O:8:"STDclass":0:{}i:1;O:11:"ArrayObject":4:{i:0;i:0;i:1;a:0:{}i:2;a:0:{}i:3;N;}}');
echo "done\n";
?>
--EXPECT--
done
