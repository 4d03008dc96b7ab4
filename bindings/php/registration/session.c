/* The handler of session.serialize_handler=icecore. It writes the same text as PHP's handler, so it
 * can be switched on and off while sessions exist. */
#include "core/documents.h"
#include "core/memory.h"
#include "ext/standard/basic_functions.h"
#include "registration/registration.h"
#include "ext/session/php_session.h"
#include "ext/standard/php_var.h"

/* Lets PHP's own serializer write the variables, as PHP's handler does. */
static zend_string *
write_by_php(HashTable *variables)
{
    php_serialize_data_t data;
    smart_str text = { 0 };
    zend_string *key;
    zval *value;
    PHP_VAR_SERIALIZE_INIT(data);
    ZEND_HASH_FOREACH_STR_KEY_VAL(variables, key, value) {
        if (!key)
            continue;
        smart_str_append(&text, key);
        smart_str_appendc(&text, '|');
        php_var_serialize(&text, value, &data);
    } ZEND_HASH_FOREACH_END();
    PHP_VAR_SERIALIZE_DESTROY(data);
    return smart_str_extract(&text);
}

PS_SERIALIZER_ENCODE_FUNC(icecore)
{
    zval *variables = &PS(http_session_vars);
    zend_string *key;
    zend_ulong number;
    bool is_empty = true;
    ZVAL_DEREF(variables);
    if (Z_TYPE_P(variables) != IS_ARRAY)
        return NULL;
    ZEND_HASH_FOREACH_KEY(Z_ARRVAL_P(variables), number, key) {
        if (!key)
            php_error_docref(NULL, E_WARNING, "Skipping numeric key " ZEND_LONG_FMT, (zend_long)number);
        /* In the text, `|` ends a name, so a name can't contain it. PHP's handler refuses it,
         * too. */
        else if (memchr(ZSTR_VAL(key), '|', ZSTR_LEN(key)))
            return NULL;
        is_empty &= !key;
    } ZEND_HASH_FOREACH_END();
    if (is_empty)
        return NULL;
    return ice_write_session(variables, write_by_php);
}

PS_SERIALIZER_DECODE_FUNC(icecore)
{
    ice_read_settings settings = { .classes = { .allows_all_by_default = true } };
    zend_string *text, *key;
    zval variables, *value;
    bool is_read;
    ice_memory_check(vallen);
    text = zend_string_init(val, vallen, 0);
    ZVAL_UNDEF(&variables);
    /* An empty text is a session without variables. */
    is_read = vallen == 0 || ice_read_session(text, &settings, &variables);
    zend_string_release(text);
    if (!is_read)
        return FAILURE;
    if (Z_TYPE(variables) == IS_ARRAY)
        ZEND_HASH_FOREACH_STR_KEY_VAL(Z_ARRVAL(variables), key, value) {
            if (key) {
                Z_TRY_ADDREF_P(value);
                php_set_session_var(key, value, NULL);
            }
        } ZEND_HASH_FOREACH_END();
    zval_ptr_dtor(&variables);
    return SUCCESS;
}

void
ice_register_sessions(void)
{
    if (zend_hash_str_exists(&module_registry, ZEND_STRL("session")))
        php_session_register_serializer("icecore", PS_SERIALIZER_ENCODE_NAME(icecore),
                                        PS_SERIALIZER_DECODE_NAME(icecore));
}
