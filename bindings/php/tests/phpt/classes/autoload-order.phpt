--TEST--
Classes are loaded in the order of the text, before hooks run
--FILE--
<?php
spl_autoload_register(function ($name) {
    echo "load $name\n";
    eval("class $name { public \$a; function __wakeup() { echo \"wakeup $name\\n\"; } }");
});
unserialize('a:2:{i:0;O:5:"First":1:{s:1:"a";O:5:"Third":0:{}}i:1;O:6:"Second":0:{}}');
?>
--EXPECT--
load First
load Third
load Second
wakeup Third
wakeup First
wakeup Second
