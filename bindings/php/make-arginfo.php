<?php
// Writes icecore_arginfo.h from the declarations in icecore.stub.php, which PHP's reflection lists.
//
//   php make-arginfo.php            writes the file
//   php make-arginfo.php --check    fails if the file is not up to date

require __DIR__ . '/icecore.stub.php';

/** PHP's types in C. */
const C_TYPES = ['string' => 'IS_STRING', 'array' => 'IS_ARRAY', 'bool' => '_IS_BOOL', 'int' => 'IS_LONG',
    'mixed' => 'IS_MIXED', 'void' => 'IS_VOID'];

/** Returns a type in C, with 1 if it allows null, as arguments for PHP's macros. */
function type_arguments(ReflectionNamedType $type): string
{
    return C_TYPES[$type->getName()] . ', ' . (int) ($type->allowsNull() && $type->getName() !== 'mixed');
}

/** Returns the default of a parameter as PHP code. */
function default_value(ReflectionParameter $parameter): string
{
    return str_replace(["array (\n)", 'NULL'], ['[]', 'null'], var_export($parameter->getDefaultValue(), true));
}

/** Returns the line for a parameter. */
function argument_line(ReflectionParameter $parameter): string
{
    $name = $parameter->getName();
    $reference = (int) $parameter->isPassedByReference();
    $default = $parameter->isDefaultValueAvailable() ? default_value($parameter) : null;
    if ($parameter->getType() instanceof ReflectionUnionType) {
        $types = array_map(fn ($member) => 'MAY_BE_' . strtoupper($member->getName()),
            $parameter->getType()->getTypes());
        return "    ZEND_ARG_TYPE_MASK($reference, $name, " . implode(' | ', $types) . ', '
            . ($default === null ? 'NULL' : "\"$default\"") . ")\n";
    }
    if ($parameter->getType() === null) {
        return $default === null ? "    ZEND_ARG_INFO($reference, $name)\n"
            : "    ZEND_ARG_INFO_WITH_DEFAULT_VALUE($reference, $name, \"$default\")\n";
    }
    $type = type_arguments($parameter->getType());
    if ($parameter->isVariadic()) {
        return "    ZEND_ARG_VARIADIC_TYPE_INFO($reference, $name, $type)\n";
    }
    if ($default === null) {
        return "    ZEND_ARG_TYPE_INFO($reference, $name, $type)\n";
    }
    return "    ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE($reference, $name, $type, \"$default\")\n";
}

$functions = array_map(fn ($name) => new ReflectionFunction($name),
    array_filter(get_defined_functions()['user'], fn ($name) => str_starts_with($name, 'icecore\\')));
$header = "/* Written by make-arginfo.php from icecore.stub.php; not to be edited. */\n";
foreach ($functions as $function) {
    $name = $function->getShortName();
    $required = $function->getNumberOfRequiredParameters();
    $header .= "\nZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Icecore_$name, 0, $required, "
        . type_arguments($function->getReturnType()) . ")\n"
        . implode('', array_map('argument_line', $function->getParameters())) . "ZEND_END_ARG_INFO()\n";
}
$header .= "\n";
foreach ($functions as $function) {
    $header .= "ZEND_FUNCTION(Icecore_{$function->getShortName()});\n";
}
$header .= "\nstatic const zend_function_entry icecore_functions[] = {\n";
foreach ($functions as $function) {
    $name = $function->getShortName();
    $header .= "    ZEND_NS_FALIAS(\"Icecore\", $name, Icecore_$name, arginfo_Icecore_$name)\n";
}
$header .= "    ZEND_FE_END\n};\n";

// -- Classes ------------------------------------------------------------------

/** The C variable of each class. Parents come first. */
const CLASS_VARIABLES = ['Exception' => 'ice_exception', 'DecodeException' => 'ice_decode_exception',
    'EncodeException' => 'ice_encode_exception', 'ClassException' => 'ice_class_exception', 'Record' => 'ice_record'];

/** Returns the line that declares a property. */
function property_line(ReflectionClass $class, ReflectionProperty $property): string
{
    $type = $property->getType();
    $name = strtoupper($type->getName()) === 'INT' ? 'LONG' : strtoupper($type->getName());
    $mask = $name === 'MIXED' ? 'MAY_BE_ANY' : "MAY_BE_$name" . ($type->allowsNull() ? ' | MAY_BE_NULL' : '');
    $flags = 'ZEND_ACC_PUBLIC' . ($property->isReadOnly() ? ' | ZEND_ACC_READONLY' : '');
    return "    ice_declare(ce, \"{$property->getName()}\", $mask, $flags);\n";
}

$header .= "\n/* A typed property without a value. */\n"
    . "static void\nice_declare(zend_class_entry *ce, const char *property, uint32_t types, int flags)\n{\n"
    . "    zend_string *name = zend_string_init_interned(property, strlen(property), 1);\n"
    . "    zval undefined;\n    ZVAL_UNDEF(&undefined);\n"
    . "    zend_declare_typed_property(ce, name, &undefined, flags, NULL,"
    . " (zend_type)ZEND_TYPE_INIT_MASK(types));\n}\n";
$header .= "\nstatic void\nicecore_register_classes(void)\n{\n    zend_class_entry entry, *ce;\n";
foreach (CLASS_VARIABLES as $name => $variable) {
    $class = new ReflectionClass("Icecore\\$name");
    $parent = $class->getParentClass();
    $parent_variable = match (true) {
        !$parent => 'NULL',
        $parent->getName() === 'RuntimeException' => 'spl_ce_RuntimeException',
        default => CLASS_VARIABLES[$parent->getShortName()],
    };
    $header .= "    INIT_CLASS_ENTRY(entry, \"Icecore\\\\$name\", NULL);\n"
        . "    ce = zend_register_internal_class_ex(&entry, $parent_variable);\n";
    if ($class->isFinal()) {
        $header .= "    ce->ce_flags |= ZEND_ACC_FINAL;\n";
    }
    foreach ($class->getProperties() as $property) {
        if ($property->getDeclaringClass()->getName() === $class->getName() && $property->isPublic()) {
            $header .= property_line($class, $property);
        }
    }
    $header .= "    $variable = ce;\n";
}
$header .= "}\n";

$file = __DIR__ . '/icecore_arginfo.h';
if (in_array('--check', $argv)) {
    if (file_get_contents($file) !== $header) {
        fwrite(STDERR, "icecore_arginfo.h is not what icecore.stub.php says: run php make-arginfo.php\n");
        exit(1);
    }
} else {
    file_put_contents($file, $header);
}
