--TEST--
__unserialize may catch the exception of a nested reading
--FILE--
<?php
class Safe
{
    public $result;

    function __unserialize(array $data): void
    {
        try {
            unserialize('O:6:"Throws":0:{}');
        } catch (DomainException $e) {
            $this->result = 'caught';
        }
    }
}
class Throws
{
    function __wakeup() { throw new DomainException('x'); }
}
$v = unserialize('a:2:{i:0;O:4:"Safe":0:{}i:1;r:2;}');
var_dump($v[1]->result);
?>
--EXPECT--
string(6) "caught"
