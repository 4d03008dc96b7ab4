/* Makes the stages that this module needs itself, and sets their depth limits. */
#include "core/stages.h"

icecore_stage *
ice_stage(int stage_id, zend_long depth)
{
    static const char *const specs[] = {
        [ICE_STAGE_PHP] = "php",
        [ICE_STAGE_PHP_LENIENT] = "php:lenient",
        [ICE_STAGE_PHP_PAYLOADS] = "php:lenient,payloads",
        [ICE_STAGE_PHP_FORM] = "php:lenient,unresolved=payloads",
        [ICE_STAGE_PHP_PART] = "php:lenient,unresolved=links",
        [ICE_STAGE_IGBINARY] = "igbinary",
        [ICE_STAGE_VAR_EXPORT] = "var-export",
        [ICE_STAGE_SESSION] = "php-session:handler=php",
        [ICE_STAGE_SESSION_LENIENT] = "php-session:handler=php,lenient",
        [ICE_STAGE_SESSION_PAYLOADS] = "php-session:handler=php,lenient,payloads",
        [ICE_STAGE_PHP_WRITE] = "php",
        [ICE_STAGE_IGBINARY_WRITE] = "igbinary",
        [ICE_STAGE_IGBINARY_WRITE_FULL] = "igbinary:compact_strings=off",
        /* `trusted` says that the value belongs to the program. The output is then that of PHP. */
        [ICE_STAGE_VAR_EXPORT_WRITE] = "var-export:trusted",
        [ICE_STAGE_SESSION_WRITE] = "php-session:handler=php",
        [ICE_STAGE_PHP_DEFAULT] = "php",
        [ICE_STAGE_IGBINARY_DEFAULT] = "igbinary",
    };
    icecore_stage **stage = &ICE_G(stages)[stage_id];
    if (UNEXPECTED(!*stage)) {
        icecore_error error;
        *stage = icecore_stage_new(specs[stage_id], strlen(specs[stage_id]), &error);
        if (!*stage) {
            ice_throw_error(ice_exception, &error);
            return NULL;
        }
        /* The program's own values may become any number of bytes, because no untrusted input
         * made them grow. */
        icecore_stage_limit(*stage, ZEND_STRL("growth"), UINT64_MAX, NULL);
        ICE_G(stage_depths)[stage_id] = ICE_DEFAULT_DEPTH;
    }
    if (UNEXPECTED(ICE_G(stage_depths)[stage_id] != depth)) {
        const uint64_t levels = depth == ICE_NO_DEPTH ? 0 : depth ? (uint64_t)depth : UINT64_MAX;
        icecore_stage_limit(*stage, ZEND_STRL("depth"), levels, NULL);
        ICE_G(stage_depths)[stage_id] = depth;
    }
    return *stage;
}

bool
ice_read_max_depth(HashTable *options, const char *function, zend_long *depth)
{
    zval *option = options ? zend_hash_str_find_deref(options, ZEND_STRL("max_depth")) : NULL;
    if (!option)
        return true;
    if (Z_TYPE_P(option) != IS_LONG) {
        zend_type_error("%s(): Option \"max_depth\" must be of type int, %s given", function, ice_type_of(option));
        return false;
    }
    if (Z_LVAL_P(option) < 0) {
        zend_value_error("%s(): Option \"max_depth\" must be greater than or equal to 0", function);
        return false;
    }
    *depth = Z_LVAL_P(option);
    return true;
}
