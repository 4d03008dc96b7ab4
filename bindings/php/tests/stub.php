<?php
// Checks that the stub for editors and static analysers describes each function and class in the same
// way as the loaded extension.
//
//   php -d extension=icecore.so stub.php
require __DIR__ . '/registration/lib.php';

const STUB = __DIR__ . '/../icecore.stub.php';

/** Describes the functions and classes of Icecore as lines that can be compared. */
function describe_interface(): array
{
    $lines = [];
    foreach (array_merge(...array_values(get_defined_functions())) as $name) {
        if (!str_starts_with($name, 'icecore\\')) {
            continue;
        }
        $function = new ReflectionFunction($name);
        // Functions that only PHP itself calls are not part of the interface.
        if (str_starts_with($function->getShortName(), 'replaced_')) {
            continue;
        }
        $lines["function {$function->getName()}"] = describe_parameters($function) . ': '
            . $function->getReturnType();
    }
    foreach (array_merge(get_declared_classes(), get_declared_interfaces()) as $name) {
        if (!str_starts_with($name, 'Icecore\\')) {
            continue;
        }
        $class = new ReflectionClass($name);
        $lines["class $name"] = implode(' ',
            Reflection::getModifierNames($class->getModifiers() & ~ReflectionClass::IS_IMPLICIT_ABSTRACT)) . ' < '
            . ($class->getParentClass() ? $class->getParentClass()->getName() : '');
        foreach ($class->getProperties() as $property) {
            if ($property->getDeclaringClass()->getName() === $name) {
                $lines["property $name::{$property->getName()}"] = implode(' ',
                    Reflection::getModifierNames($property->getModifiers()))
                    . " {$property->getType()} "
                    . ($property->hasDefaultValue()
                    ? var_export($property->getDefaultValue(), true) : 'without a value');
            }
        }
        foreach ($class->getMethods() as $method) {
            if ($method->getDeclaringClass()->getName() === $name) {
                $lines["method $name::{$method->getName()}"] = implode(' ',
                    Reflection::getModifierNames($method->getModifiers())) . describe_parameters($method)
                    . ': ' . $method->getReturnType();
            }
        }
        foreach ($class->getReflectionConstants() as $constant) {
            if ($constant->getDeclaringClass()->getName() === $name) {
                $lines["constant $name::{$constant->getName()}"] = var_export($constant->getValue(), true);
            }
        }
    }
    ksort($lines);
    return $lines;
}

/** Describes the parameters of a function. */
function describe_parameters(ReflectionFunctionAbstract $function): string
{
    return '(' . implode(', ',
        array_map(fn ($parameter) => "{$parameter->getType()} " . ($parameter->isPassedByReference() ? '&' : '')
        . ($parameter->isVariadic() ? '...' : '') . '$' . $parameter->getName()
        . ($parameter->isDefaultValueAvailable() ? ' = ' . var_export($parameter->getDefaultValue(), true) : ''),
            $function->getParameters())) . ')';
}

if (($argv[1] ?? '') === '--of-the-stub') {
    require STUB;
    echo json_encode(describe_interface());
    exit;
}
check('the extension is loaded', extension_loaded('icecore'));
exec(escapeshellarg(PHP_BINARY) . ' -l ' . escapeshellarg(STUB) . ' 2>&1', $output, $code);
check('the stub is valid PHP', $code === 0, output: implode("\n", $output));
// A PHP without the extension can load the stub, which declares the same names.
exec(escapeshellarg(PHP_BINARY) . ' -n ' . escapeshellarg(__FILE__) . ' --of-the-stub', $lines, $code);
$stub = json_decode(implode("\n", $lines), true) ?? [];
$loaded = describe_interface();
check('the stub has functions', count($stub) > 10);
foreach ($stub + $loaded as $name => $line) {
    same("the stub describes $name", $stub[$name] ?? 'not in the stub', $loaded[$name] ?? 'not in the extension');
}
finish();
