--TEST--
A call in __wakeup or __unserialize does not continue the depth of the outer call
--FILE--
<?php
class Wakes
{
    public $text;
    public $value;

    function __wakeup() { $this->value = unserialize($this->text); }
}
class Restores
{
    public $value;

    function __unserialize(array $data): void { $this->value = [unserialize($data[0]), unserialize($data[0], ['max_depth' => 1])]; }
}
class Text implements Serializable
{
    public $value;

    function serialize() { return 'x'; }
    function unserialize($text) { $this->value = unserialize($text); }
    function __serialize(): array { return []; }
    function __unserialize(array $data): void { }
}
foreach (['a:1:{i:0;a:1:{i:0;i:1;}}', 'C:4:"Text":24:{a:1:{i:0;a:1:{i:0;i:1;}}}'] as $inner) {
    $string = 's:' . strlen($inner) . ":\"$inner\";";
    foreach ([1, 2] as $depth) {
        var_dump(unserialize('O:5:"Wakes":1:{s:4:"text";' . $string . '}', ['max_depth' => $depth]));
        var_dump(unserialize('O:8:"Restores":1:{i:0;' . $string . '}', ['max_depth' => $depth]));
    }
}
?>
--EXPECTF--
object(Wakes)#%d (2) {
  ["text"]=>
  string(24) "a:1:{i:0;a:1:{i:0;i:1;}}"
  ["value"]=>
  array(1) {
    [0]=>
    array(1) {
      [0]=>
      int(1)
    }
  }
}

Warning: unserialize(): Maximum depth of 1 exceeded. The depth limit can be changed using the max_depth unserialize() option or the unserialize_max_depth ini setting in %s on line %d

%s: unserialize(): Error at offset 14 of 24 bytes in %s on line %d
object(Restores)#%d (1) {
  ["value"]=>
  array(2) {
    [0]=>
    array(1) {
      [0]=>
      array(1) {
        [0]=>
        int(1)
      }
    }
    [1]=>
    bool(false)
  }
}
object(Wakes)#%d (2) {
  ["text"]=>
  string(24) "a:1:{i:0;a:1:{i:0;i:1;}}"
  ["value"]=>
  array(1) {
    [0]=>
    array(1) {
      [0]=>
      int(1)
    }
  }
}

Warning: unserialize(): Maximum depth of 1 exceeded. The depth limit can be changed using the max_depth unserialize() option or the unserialize_max_depth ini setting in %s on line %d

%s: unserialize(): Error at offset 14 of 24 bytes in %s on line %d
object(Restores)#%d (1) {
  ["value"]=>
  array(2) {
    [0]=>
    array(1) {
      [0]=>
      array(1) {
        [0]=>
        int(1)
      }
    }
    [1]=>
    bool(false)
  }
}
object(Wakes)#%d (2) {
  ["text"]=>
  string(40) "C:4:"Text":24:{a:1:{i:0;a:1:{i:0;i:1;}}}"
  ["value"]=>
  object(Text)#%d (1) {
    ["value"]=>
    array(1) {
      [0]=>
      array(1) {
        [0]=>
        int(1)
      }
    }
  }
}
object(Restores)#%d (1) {
  ["value"]=>
  array(2) {
    [0]=>
    object(Text)#%d (1) {
      ["value"]=>
      array(1) {
        [0]=>
        array(1) {
          [0]=>
          int(1)
        }
      }
    }
    [1]=>
    object(Text)#%d (1) {
      ["value"]=>
      array(1) {
        [0]=>
        array(1) {
          [0]=>
          int(1)
        }
      }
    }
  }
}
object(Wakes)#%d (2) {
  ["text"]=>
  string(40) "C:4:"Text":24:{a:1:{i:0;a:1:{i:0;i:1;}}}"
  ["value"]=>
  object(Text)#%d (1) {
    ["value"]=>
    array(1) {
      [0]=>
      array(1) {
        [0]=>
        int(1)
      }
    }
  }
}
object(Restores)#%d (1) {
  ["value"]=>
  array(2) {
    [0]=>
    object(Text)#%d (1) {
      ["value"]=>
      array(1) {
        [0]=>
        array(1) {
          [0]=>
          int(1)
        }
      }
    }
    [1]=>
    object(Text)#%d (1) {
      ["value"]=>
      array(1) {
        [0]=>
        array(1) {
          [0]=>
          int(1)
        }
      }
    }
  }
}
