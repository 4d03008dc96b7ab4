/* icecore.replace=1: the global functions serialize, unserialize and var_export are this module's,
 * for code that can't be changed. */
#include "core/icecore_php.h"
#include "icecore_functions.h"
#include "registration/registration.h"

/* Replaces the implementation of a function of PHP. */
static void
replace_handler(const char *name, size_t len, zif_handler handler)
{
    zend_function *function = zend_hash_str_find_ptr(CG(function_table), name, len);
    if (function && function->type == ZEND_INTERNAL_FUNCTION)
        function->internal_function.handler = handler;
}

void
ice_register_replace(void)
{
    replace_handler(ZEND_STRL("serialize"), PHP_FN(Icecore_serialize));
    replace_handler(ZEND_STRL("unserialize"), PHP_FN(Icecore_replaced_unserialize));
    replace_handler(ZEND_STRL("var_export"), PHP_FN(Icecore_var_export));
}
