/* Throws exceptions, and computes the offsets that PHP would report. */
#include "core/icecore_php.h"

zend_class_entry *ice_exception, *ice_decode_exception, *ice_encode_exception, *ice_class_exception, *ice_record;

void
ice_throw(zend_class_entry *ce, const char *kind, int64_t offset, const char *path, zend_string *message)
{
    zval exception, value;
    if (object_init_ex(&exception, ce) == FAILURE) {
        zend_string_release(message);
        return;
    }
    ZVAL_STR(&value, message);
    zend_update_property_ex(zend_ce_exception, Z_OBJ(exception), ZSTR_KNOWN(ZEND_STR_MESSAGE), &value);
    zend_string_release(message);
    zend_update_property_string(ice_exception, Z_OBJ(exception), ZEND_STRL("kind"), kind);
    if (offset >= 0)
        zend_update_property_long(ice_exception, Z_OBJ(exception), ZEND_STRL("offset"), offset);
    else
        zend_update_property_null(ice_exception, Z_OBJ(exception), ZEND_STRL("offset"));
    zend_update_property_string(ice_exception, Z_OBJ(exception), ZEND_STRL("path"), path);
    zend_throw_exception_object(&exception);
}

void
ice_throw_error(zend_class_entry *ce, const icecore_error *error)
{
    /* "depth" is the engine's name of the limit. */
    static const ice_limit_words advice[] = {
        { "depth", "raise it with the option max_depth" },
        { ICE_TRAILING, "cut the input there" },
    };
    ice_line line;
    const char *text = ice_message(error, advice, sizeof advice / sizeof *advice, &line);
    ice_throw(ce, ice_kind_name(error->kind, "bad-link"), error->offset, error->path,
              zend_string_init(text, strlen(text), 0));
}

zend_long
ice_php_offset(const icecore_error *error)
{
    return (zend_long)MAX(error->original_offset >= 0 ? error->original_offset : error->offset, 0);
}
