--TEST--
exit within a hook ends the program in order
--FILE--
<?php
class Ends
{
    function __wakeup()
    {
        echo "exit\n";
        exit(0);
    }
}
register_shutdown_function(function () {
    var_dump(unserialize('i:1;'));
});
unserialize('a:2:{i:0;O:4:"Ends":0:{}i:1;i:1;}');
echo "not reached\n";
?>
--EXPECT--
exit
int(1)
