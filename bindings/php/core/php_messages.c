/* PHP's messages about malformed text. */
#include "core/php_messages.h"
#include "core/scan.h"

/* The level of PHP's messages about malformed text. */
#if PHP_VERSION_ID >= 80300
#  define MALFORMED_LEVEL E_WARNING
#else
#  define MALFORMED_LEVEL E_NOTICE
#endif

void
ice_report_offset(zend_long offset, size_t len)
{
    if (!EG(exception) && !ICE_IS_OUT_OF_MEMORY)
        php_error_docref(NULL, MALFORMED_LEVEL, "Error at offset " ZEND_LONG_FMT " of %zd bytes", offset, len);
}

void
ice_report_error(const icecore_error *error, zend_string *text, zend_long depth)
{
    zend_long offset = ice_php_offset(error), stated_len;
    const char *name;
    size_t len;
    bool is_wide;
    switch (error->detail) {
    case ICECORE_DETAIL_DEPTH:
        offset = (zend_long)ice_scan_token_end(text, (size_t)offset);
        php_error_docref(NULL, E_WARNING,
                         "Maximum depth of " ZEND_LONG_FMT " exceeded. The depth limit can be changed using the "
                         "max_depth unserialize() option or the unserialize_max_depth ini setting",
                         depth);
        break;
    case ICECORE_DETAIL_NO_CASE:
        if ((name = ice_scan_enum_name(text, (size_t)offset, &len)) && !memchr(name, ':', len))
            php_error_docref(NULL, E_WARNING, "Invalid enum name '%.*s' (missing colon)", (int)len, name);
        break;
    case ICECORE_DETAIL_NO_COUNT: zend_error(E_WARNING, "Bad unserialize data"); break;
    case ICECORE_DETAIL_WIDE_COUNT: ice_warn_wide(1); break;
    case ICECORE_DETAIL_SHORT_PAYLOAD:
        if (!ice_scan_payload_length(text, (size_t)offset, &stated_len, &is_wide))
            break;
        ice_warn_wide(is_wide);
        zend_error(E_WARNING,
                   "Insufficient data for unserializing - " ZEND_LONG_FMT " required, " ZEND_LONG_FMT " present",
                   stated_len, (zend_long)(ZSTR_LEN(text) - (size_t)offset));
        break;
    case ICECORE_DETAIL_NO_KEY:
    case ICECORE_DETAIL_NO_VALUE:
        /* PHP has this message only for a container that ends before its count is reached. */
        if (offset == error->offset && (size_t)offset < ZSTR_LEN(text) && ZSTR_VAL(text)[offset] == '}')
            php_error_docref(NULL, MALFORMED_LEVEL, "Unexpected end of serialized data");
        break;
    default: break;
    }
    ice_report_offset(offset, ZSTR_LEN(text));
}
