/* The serializer of apc.serializer=icecore. */
#include "core/documents.h"
#include "core/memory.h"
#include "ext/standard/basic_functions.h"
#include "registration/registration.h"
#ifdef ICECORE_HAS_APCU
#  include "ext/apcu/apc_serializer.h"

/* APCu frees the buffer with efree. */
static int
write_value(APC_SERIALIZER_ARGS)
{
    zend_string *text = ice_write((zval *)value, ICE_STAGE_PHP_WRITE, ICE_FOR_SERIALIZE);
    if (!text)
        return 0;
    ice_memory_check(ZSTR_LEN(text));
    *buf = emalloc(ZSTR_LEN(text) + 1);
    memcpy(*buf, ZSTR_VAL(text), ZSTR_LEN(text) + 1);
    *buf_len = ZSTR_LEN(text);
    zend_string_release(text);
    return 1;
}

static int
read_value(APC_UNSERIALIZER_ARGS)
{
    ice_read_settings settings = { .classes = { .allows_all_by_default = true } };
    zend_string *text;
    bool is_read;
    ice_memory_check(buf_len);
    text = zend_string_init((const char *)buf, buf_len, 0);
    is_read = ice_unserialize(text, &settings, BG(unserialize_max_depth), "unserialize", value);
    zend_string_release(text);
    if (!is_read)
        ZVAL_NULL(value);
    return is_read;
}

void
ice_register_apcu(void)
{
    apc_register_serializer("icecore", write_value, read_value, NULL);
}
#else
void
ice_register_apcu(void)
{
}
#endif
