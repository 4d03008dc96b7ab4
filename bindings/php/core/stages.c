/* The stages that this module needs itself, and their depth limits. */
#include "core/stages.h"

icecore_stage *
ice_stage(int which, zend_long depth)
{
    static const char *const specs[] = {
        [ICE_PHP] = "php",
        [ICE_PHP_LENIENT] = "php:lenient",
        [ICE_PHP_PAYLOADS] = "php:lenient,payloads",
        [ICE_IGBINARY] = "igbinary",
        [ICE_VAR_EXPORT] = "var-export",
        [ICE_SESSION] = "php-session:handler=php",
        [ICE_PHP_WRITE] = "php",
        [ICE_IGBINARY_WRITE] = "igbinary",
        /* Values of the program: the same bytes as PHP's own var_export. */
        [ICE_VAR_EXPORT_WRITE] = "var-export:trusted",
        [ICE_SESSION_WRITE] = "php-session:handler=php",
        [ICE_PHP_USUAL] = "php",
        [ICE_IGBINARY_USUAL] = "igbinary",
    };
    icecore_stage **stage = &ICE_G(stages)[which];
    if (UNEXPECTED(!*stage)) {
        icecore_error error;
        *stage = icecore_stage_new(specs[which], strlen(specs[which]), &error);
        if (!*stage) {
            ice_throw_error(ice_exception, &error);
            return NULL;
        }
        /* The output for a program's own values is not limited by the size of any input. */
        icecore_stage_limit(*stage, ZEND_STRL("growth"), UINT64_MAX, NULL);
        ICE_G(depths)[which] = ICE_USUAL_DEPTH;
    }
    if (UNEXPECTED(ICE_G(depths)[which] != depth)) {
        icecore_stage_limit(*stage, ZEND_STRL("depth"), depth ? (uint64_t)depth : UINT64_MAX, NULL);
        ICE_G(depths)[which] = depth;
    }
    return *stage;
}

bool
ice_depth_option(HashTable *options, const char *function, zend_long *depth)
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
