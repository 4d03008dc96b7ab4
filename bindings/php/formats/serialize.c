/* Implements serialize and unserialize, and the functions of igbinary. */
#include "core/documents.h"
#include "ext/standard/basic_functions.h"
#include "icecore_functions.h"

PHP_FUNCTION(Icecore_serialize)
{
    zval *value;
    zend_string *text;
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ZVAL(value)
    ZEND_PARSE_PARAMETERS_END();
    text = ice_write(value, ICE_STAGE_PHP_WRITE, ICE_FOR_SERIALIZE);
    if (!text)
        RETURN_THROWS();
    RETURN_STR(text);
}

/* Does what unserialize() does. If `allows_all_by_default` is true and there is not a list of
 * classes, all classes are built. */
static void
unserialize(zend_string *text, HashTable *options, bool allows_all_by_default, const char *function,
            zval *return_value)
{
    ice_read_settings settings = { .classes = { .allows_all_by_default = allows_all_by_default } };
    zend_long depth = BG(unserialize_max_depth);
    zval result;
    if (ZSTR_LEN(text) == 0)
        RETURN_FALSE;
    ZVAL_UNDEF(&result);
    if (!ice_class_options_read(&settings.classes, options, function) ||
        !ice_read_max_depth(options, function, &depth))
        RETVAL_FALSE;
    else {
        settings.has_max_depth = options && zend_hash_str_exists(options, ZEND_STRL("max_depth"));
        if (ice_unserialize(text, &settings, depth, function, &result))
            RETVAL_COPY_VALUE(&result);
        else
            RETVAL_FALSE;
    }
    ice_class_options_free(&settings.classes);
}

PHP_FUNCTION(Icecore_unserialize)
{
    zend_string *text;
    HashTable *options = NULL;
    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_STR(text)
        Z_PARAM_OPTIONAL
        Z_PARAM_ARRAY_HT(options)
    ZEND_PARSE_PARAMETERS_END();
    unserialize(text, options, false, "Icecore\\unserialize", return_value);
}

/* The function that takes the place of PHP's own if icecore.replace=1. */
PHP_FUNCTION(Icecore_replaced_unserialize)
{
    zend_string *text;
    HashTable *options = NULL;
    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_STR(text)
        Z_PARAM_OPTIONAL
        Z_PARAM_ARRAY_HT(options)
    ZEND_PARSE_PARAMETERS_END();
    unserialize(text, options, true, "unserialize", return_value);
}

/* ---- igbinary ----------------------------------------------------------- */

/* The depth that igbinary_unserialize allows unless unserialize_max_depth is larger. igbinary has no
 * limit, but PHP frees a value by recursion. */
#define IGBINARY_MAX_DEPTH 16384

/* Returns the id of the stage that writes strings as the ini value igbinary.compact_strings says. The
 * entry belongs to the extension igbinary, and is searched for once in a request. */
static int
igbinary_write_stage(void)
{
    if (UNEXPECTED(!ICE_G(has_searched_compact_strings))) {
        ICE_G(has_searched_compact_strings) = true;
        ICE_G(compact_strings) = zend_hash_str_find_ptr(EG(ini_directives), ZEND_STRL("igbinary.compact_strings"));
    }
    if (UNEXPECTED(ICE_G(compact_strings) && ICE_G(compact_strings)->value &&
                   !zend_ini_parse_bool(ICE_G(compact_strings)->value)))
        return ICE_STAGE_IGBINARY_WRITE_FULL;
    return ICE_STAGE_IGBINARY_WRITE;
}

PHP_FUNCTION(Icecore_igbinary_serialize)
{
    zval *value;
    zend_string *bytes;
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ZVAL(value)
    ZEND_PARSE_PARAMETERS_END();
    bytes = ice_write(value, igbinary_write_stage(), ICE_FOR_IGBINARY);
    if (!bytes)
        RETURN_THROWS();
    RETURN_STR(bytes);
}

/* As in igbinary, malformed data gives a warning and null, and an empty string gives false. igbinary
 * crashes for some malformed data, for example if the array for __unserialize is cut off; here it
 * gives a warning and null, too. */
PHP_FUNCTION(Icecore_igbinary_unserialize)
{
    static const char function[] = "Icecore\\igbinary_unserialize";
    ice_read_settings settings = { .is_igbinary = true };
    /* In this ini value, 0 means any depth. */
    zend_long depth = BG(unserialize_max_depth) ? MAX(BG(unserialize_max_depth), IGBINARY_MAX_DEPTH) : 0;
    zend_string *bytes;
    HashTable *options = NULL;
    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_STR(bytes)
        Z_PARAM_OPTIONAL
        Z_PARAM_ARRAY_HT(options)
    ZEND_PARSE_PARAMETERS_END();
    if (ZSTR_LEN(bytes) == 0)
        RETURN_FALSE;
    if (ice_class_options_read(&settings.classes, options, function) && ice_read_max_depth(options, function, &depth))
        ice_read_igbinary(bytes, &settings, depth, return_value);
    ice_class_options_free(&settings.classes);
}
