<?php
// Classes whose objects are in the texts of custom-chance.php.

declare(strict_types=1);

error_reporting(E_ALL & ~E_DEPRECATED);

enum Suit
{
    case Hearts;
}

class Plain
{
    public $a;
    public $b;
}

class Wakes
{
    public $a;

    public function __wakeup() { Outcome::record('wakeup'); }
    public function __destruct() { Outcome::record('destruct'); }
}

/** Its __unserialize reads text itself. */
class Restores
{
    public $a;
    public $read;

    public function __unserialize(array $data): void
    {
        Outcome::record('__unserialize');
        $this->a = $data;
        foreach ($data as $item) {
            if (is_string($item)) {
                $this->read[] = unserialize($item);
                $this->read[] = unserialize($item, ['max_depth' => 2]);
            }
        }
    }
}

/** Its __wakeup reads text itself. */
class WakesAndReads
{
    public $a;
    public $read;

    public function __wakeup()
    {
        Outcome::record('wakeup');
        if (is_string($this->a)) {
            $this->read = [unserialize($this->a), unserialize($this->a, ['max_depth' => 1])];
        }
    }
}

/** A class that writes its payload itself. The subclasses read it. */
abstract class Custom implements Serializable
{
    public $in;

    public function serialize() { return serialize($this->in); }

    public function unserialize($text)
    {
        Outcome::record(static::class);
        $this->read($text);
    }

    abstract protected function read(string $text): void;
}

class CustomReads extends Custom
{
    protected function read(string $text): void { $this->in = unserialize($text); }
}

class CustomThrows extends Custom
{
    protected function read(string $text): void
    {
        $this->in = unserialize($text);
        if ($this->in === false) {
            throw new DomainException("can't read it");
        }
    }
}

class CustomReadsTwice extends Custom
{
    protected function read(string $text): void
    {
        $this->in = [unserialize($text), unserialize(substr($text, 2)), unserialize($text, [])];
    }
}

class CustomWithDepth extends Custom
{
    protected function read(string $text): void { $this->in = unserialize($text, ['max_depth' => 2]); }
}

class CustomWithList extends Custom
{
    protected function read(string $text): void { $this->in = unserialize($text, ['allowed_classes' => ['Plain', 'Suit']]); }
}

class CustomWithAny extends Custom
{
    protected function read(string $text): void { $this->in = unserialize($text, ['allowed_classes' => true]); }
}

class CustomWithNone extends Custom
{
    protected function read(string $text): void { $this->in = unserialize($text, ['allowed_classes' => ['Suit']]); }
}

class CustomBase64 extends Custom
{
    protected function read(string $text): void { $this->in = unserialize((string) base64_decode($text)); }
}

class CustomKeeps extends Custom
{
    protected function read(string $text): void { $this->in = $text; }
}

class CustomCatches extends Custom
{
    protected function read(string $text): void
    {
        try {
            $this->in = unserialize($text);
        } catch (Throwable $error) {
            $this->in = $error->getMessage();
        }
    }
}

class MyArray extends ArrayObject
{
    public $more;
}

class MyArrayCatches extends ArrayObject
{
    public $error;

    public function unserialize(string $text): void
    {
        Outcome::record('MyArrayCatches');
        try {
            parent::unserialize($text);
        } catch (Throwable $error) {
            $this->error = $error::class . $error->getMessage();
        }
    }
}

class MyStorage extends SplObjectStorage
{
}

class MyList extends SplDoublyLinkedList
{
}
