/* The handler of session.serialize_handler=icecore. It writes the same text as PHP's handler, so it
 * can be switched on and off while sessions exist. */
#include "core/documents.h"
#include "core/memory.h"
#include "ext/standard/basic_functions.h"
#include "registration/registration.h"
#include "ext/session/php_session.h"
#include "ext/standard/php_var.h"

/* Returns true if `|` is in a name. In the text it ends a name, so PHP's handler refuses the session. */
static bool
has_delimiter(const zend_string *name)
{
    return memchr(ZSTR_VAL(name), '|', ZSTR_LEN(name)) != NULL;
}

/* Lets PHP's own serializer write the variables, as PHP's handler does. Returns NULL if there is
 * none, or if PHP's handler refuses a name. */
static zend_string *
write_by_php(HashTable *variables)
{
    php_serialize_data_t data;
    smart_str text = { 0 };
    zend_string *key;
    zend_ulong number;
    zval *value;
    PHP_VAR_SERIALIZE_INIT(data);
    ZEND_HASH_FOREACH_KEY_VAL(variables, number, key, value) {
        if (!key) {
            php_error_docref(NULL, E_WARNING, "Skipping numeric key " ZEND_LONG_FMT, (zend_long)number);
            continue;
        }
        if (has_delimiter(key)) {
            smart_str_free(&text);
            break;
        }
        smart_str_append(&text, key);
        smart_str_appendc(&text, '|');
        php_var_serialize(&text, value, &data);
    } ZEND_HASH_FOREACH_END();
    PHP_VAR_SERIALIZE_DESTROY(data);
    return text.s ? smart_str_extract(&text) : NULL;
}

PS_SERIALIZER_ENCODE_FUNC(icecore)
{
    zval *variables = &PS(http_session_vars);
    zend_string *key;
    ZVAL_DEREF(variables);
    if (Z_TYPE_P(variables) != IS_ARRAY || zend_hash_num_elements(Z_ARRVAL_P(variables)) == 0)
        return NULL;
    ZEND_HASH_FOREACH_STR_KEY(Z_ARRVAL_P(variables), key) {
        /* PHP warns about the name, or refuses it, after it has called the hooks of the variables before. */
        if (UNEXPECTED(!key || has_delimiter(key)))
            return write_by_php(Z_ARRVAL_P(variables));
    } ZEND_HASH_FOREACH_END();
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
