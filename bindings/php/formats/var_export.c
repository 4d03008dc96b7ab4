/* Implements var_export. */
#include "core/documents.h"

PHP_FUNCTION(Icecore_var_export)
{
    zval *value;
    bool returns = false;
    zend_string *text;
    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_ZVAL(value)
        Z_PARAM_OPTIONAL
        Z_PARAM_BOOL(returns)
    ZEND_PARSE_PARAMETERS_END();
    text = ice_write(value, ICE_STAGE_VAR_EXPORT_WRITE, ICE_FOR_EXPORT);
    if (!text)
        RETURN_THROWS();
    if (returns)
        RETURN_STR(text);
    PHPWRITE(ZSTR_VAL(text), ZSTR_LEN(text));
    zend_string_release(text);
}
