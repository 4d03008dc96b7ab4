--TEST--
Reflection shows the parameters of PHP's own functions
--FILE--
<?php
foreach (['serialize', 'unserialize', 'var_export'] as $name) {
    $function = new ReflectionFunction($name);
    echo $name, '(', implode(', ', array_map(fn ($p) => $p->getType() . ' $' . $p->getName() . ($p->isOptional() ? ' = ' . json_encode($p->getDefaultValue()) : ''), $function->getParameters())), ') ', $function->getReturnType(), "\n";
}
?>
--EXPECT--
serialize(mixed $value) string
unserialize(string $data, array $options = []) mixed
var_export(mixed $value, bool $return = false) ?string
