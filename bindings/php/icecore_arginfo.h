/* Written by make-arginfo.php from icecore.stub.php; not to be edited. */

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Icecore_serialize, 0, 1, IS_STRING, 0)
    ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Icecore_unserialize, 0, 1, IS_MIXED, 0)
    ZEND_ARG_TYPE_INFO(0, data, IS_STRING, 0)
    ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Icecore_var_export, 0, 1, IS_STRING, 1)
    ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
    ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, return, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Icecore_var_import, 0, 1, IS_MIXED, 0)
    ZEND_ARG_TYPE_INFO(0, text, IS_STRING, 0)
    ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Icecore_decode, 0, 1, IS_MIXED, 0)
    ZEND_ARG_TYPE_INFO(0, bytes, IS_STRING, 0)
    ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, format, IS_STRING, 1, "null")
    ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Icecore_encode, 0, 2, IS_STRING, 0)
    ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
    ZEND_ARG_TYPE_INFO(0, format, IS_STRING, 0)
    ZEND_ARG_INFO_WITH_DEFAULT_VALUE(1, losses, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Icecore_convert, 0, 3, IS_STRING, 0)
    ZEND_ARG_TYPE_INFO(0, bytes, IS_STRING, 0)
    ZEND_ARG_TYPE_INFO(0, from, IS_STRING, 1)
    ZEND_ARG_TYPE_INFO(0, to, IS_STRING, 0)
    ZEND_ARG_INFO_WITH_DEFAULT_VALUE(1, losses, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Icecore_replace, 0, 3, IS_STRING, 0)
    ZEND_ARG_TYPE_MASK(0, old, MAY_BE_ARRAY | MAY_BE_STRING, NULL)
    ZEND_ARG_TYPE_MASK(0, new, MAY_BE_ARRAY | MAY_BE_STRING | MAY_BE_NULL, NULL)
    ZEND_ARG_TYPE_INFO(0, data, IS_STRING, 0)
    ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
    ZEND_ARG_INFO_WITH_DEFAULT_VALUE(1, report, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Icecore_classes, 0, 1, IS_ARRAY, 0)
    ZEND_ARG_TYPE_INFO(0, bytes, IS_STRING, 0)
    ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, format, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Icecore_detect, 0, 1, IS_STRING, 1)
    ZEND_ARG_TYPE_INFO(0, bytes, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Icecore_igbinary_serialize, 0, 1, IS_STRING, 0)
    ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Icecore_igbinary_unserialize, 0, 1, IS_MIXED, 0)
    ZEND_ARG_TYPE_INFO(0, data, IS_STRING, 0)
    ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Icecore_allow, 0, 0, IS_VOID, 0)
    ZEND_ARG_VARIADIC_TYPE_INFO(0, classes, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_FUNCTION(Icecore_serialize);
ZEND_FUNCTION(Icecore_unserialize);
ZEND_FUNCTION(Icecore_var_export);
ZEND_FUNCTION(Icecore_var_import);
ZEND_FUNCTION(Icecore_decode);
ZEND_FUNCTION(Icecore_encode);
ZEND_FUNCTION(Icecore_convert);
ZEND_FUNCTION(Icecore_replace);
ZEND_FUNCTION(Icecore_classes);
ZEND_FUNCTION(Icecore_detect);
ZEND_FUNCTION(Icecore_igbinary_serialize);
ZEND_FUNCTION(Icecore_igbinary_unserialize);
ZEND_FUNCTION(Icecore_allow);

static const zend_function_entry icecore_functions[] = {
    ZEND_NS_FALIAS("Icecore", serialize, Icecore_serialize, arginfo_Icecore_serialize)
    ZEND_NS_FALIAS("Icecore", unserialize, Icecore_unserialize, arginfo_Icecore_unserialize)
    ZEND_NS_FALIAS("Icecore", var_export, Icecore_var_export, arginfo_Icecore_var_export)
    ZEND_NS_FALIAS("Icecore", var_import, Icecore_var_import, arginfo_Icecore_var_import)
    ZEND_NS_FALIAS("Icecore", decode, Icecore_decode, arginfo_Icecore_decode)
    ZEND_NS_FALIAS("Icecore", encode, Icecore_encode, arginfo_Icecore_encode)
    ZEND_NS_FALIAS("Icecore", convert, Icecore_convert, arginfo_Icecore_convert)
    ZEND_NS_FALIAS("Icecore", replace, Icecore_replace, arginfo_Icecore_replace)
    ZEND_NS_FALIAS("Icecore", classes, Icecore_classes, arginfo_Icecore_classes)
    ZEND_NS_FALIAS("Icecore", detect, Icecore_detect, arginfo_Icecore_detect)
    ZEND_NS_FALIAS("Icecore", igbinary_serialize, Icecore_igbinary_serialize, arginfo_Icecore_igbinary_serialize)
    ZEND_NS_FALIAS("Icecore", igbinary_unserialize, Icecore_igbinary_unserialize, arginfo_Icecore_igbinary_unserialize)
    ZEND_NS_FALIAS("Icecore", allow, Icecore_allow, arginfo_Icecore_allow)
    ZEND_FE_END
};

/* A typed property without a value. */
static void
ice_declare(zend_class_entry *ce, const char *property, uint32_t types, int flags)
{
    zend_string *name = zend_string_init_interned(property, strlen(property), 1);
    zval undefined;
    ZVAL_UNDEF(&undefined);
    zend_declare_typed_property(ce, name, &undefined, flags, NULL, (zend_type)ZEND_TYPE_INIT_MASK(types));
}

static void
icecore_register_classes(void)
{
    zend_class_entry entry, *ce;
    INIT_CLASS_ENTRY(entry, "Icecore\\Exception", NULL);
    ce = zend_register_internal_class_ex(&entry, spl_ce_RuntimeException);
    ice_declare(ce, "kind", MAY_BE_STRING, ZEND_ACC_PUBLIC | ZEND_ACC_READONLY);
    ice_declare(ce, "offset", MAY_BE_LONG | MAY_BE_NULL, ZEND_ACC_PUBLIC | ZEND_ACC_READONLY);
    ice_declare(ce, "path", MAY_BE_STRING, ZEND_ACC_PUBLIC | ZEND_ACC_READONLY);
    ice_exception = ce;
    INIT_CLASS_ENTRY(entry, "Icecore\\DecodeException", NULL);
    ce = zend_register_internal_class_ex(&entry, ice_exception);
    ice_decode_exception = ce;
    INIT_CLASS_ENTRY(entry, "Icecore\\EncodeException", NULL);
    ce = zend_register_internal_class_ex(&entry, ice_exception);
    ice_encode_exception = ce;
    INIT_CLASS_ENTRY(entry, "Icecore\\ClassException", NULL);
    ce = zend_register_internal_class_ex(&entry, ice_exception);
    ice_declare(ce, "classes", MAY_BE_ARRAY, ZEND_ACC_PUBLIC | ZEND_ACC_READONLY);
    ice_class_exception = ce;
    INIT_CLASS_ENTRY(entry, "Icecore\\Record", NULL);
    ce = zend_register_internal_class_ex(&entry, NULL);
    ce->ce_flags |= ZEND_ACC_FINAL;
    ice_declare(ce, "class", MAY_BE_STRING, ZEND_ACC_PUBLIC);
    ice_declare(ce, "kind", MAY_BE_STRING, ZEND_ACC_PUBLIC);
    ice_declare(ce, "properties", MAY_BE_ANY, ZEND_ACC_PUBLIC);
    ice_record = ce;
}
