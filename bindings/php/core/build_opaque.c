/* Enum cases, and objects that their class froze itself. */
#include "core/build.h"
#include "ext/standard/php_incomplete_class.h"
#include "zend_enum.h"

static void
enum_record(zval *to, const char *text, size_t class_len, size_t len)
{
    object_init_ex(to, ice_record);
    ZVAL_STRINGL(OBJ_PROP_NUM(Z_OBJ_P(to), 0), text, class_len);
    ZVAL_STRING(OBJ_PROP_NUM(Z_OBJ_P(to), 1), "enum");
    ZVAL_STRINGL(OBJ_PROP_NUM(Z_OBJ_P(to), 2), text + class_len + 1, len - class_len - 1);
}

static bool
put_case(ice_builder *b, zend_string *class, zend_string *name, zval *to)
{
    zend_class_entry *ce = zend_is_valid_class_name(class) ? zend_lookup_class(class) : NULL;
    zend_class_constant *constant;
    if (!ce) {
        if (zend_is_valid_class_name(class))
            php_error_docref(NULL, E_WARNING, "Class '%s' not found", ZSTR_VAL(class));
        return false;
    }
    if (!(ce->ce_flags & ZEND_ACC_ENUM)) {
        php_error_docref(NULL, E_WARNING, "Class '%s' is not an enum", ZSTR_VAL(class));
        return false;
    }
    b->ctx->failed_behind = true;
    constant = zend_hash_find_ptr(CE_CONSTANTS_TABLE(ce), name);
    if (!constant) {
        php_error_docref(NULL, E_WARNING, "Undefined constant %s::%s", ZSTR_VAL(class), ZSTR_VAL(name));
        return false;
    }
    if (!(ZEND_CLASS_CONST_FLAGS(constant) & ZEND_CLASS_CONST_IS_CASE)) {
        php_error_docref(NULL, E_WARNING, "%s::%s is not an enum case", ZSTR_VAL(class), ZSTR_VAL(name));
        return false;
    }
    if (Z_TYPE(constant->value) == IS_CONSTANT_AST && zval_update_constant_ex(&constant->value, constant->ce) == FAILURE)
        return false;
    b->ctx->failed_behind = false;
    ZVAL_COPY(to, &constant->value);
    return true;
}

bool
ice_build_enum_case(ice_builder *b, const icecore_node *node, zval *to)
{
    size_t len;
    const char *text = ice_bytes_of(&b->ctx->view, node, &len);
    const char *colon = memchr(text, ':', len);
    zend_string *class, *name;
    bool is_put;
    ice_build_say(b, (uint32_t)(node - b->nodes), false);
    if (!colon) {
        php_error_docref(NULL, E_WARNING, "Invalid enum name '%.*s' (missing colon)", (int)len, text);
        return false;
    }
    if (ice_policy_is_record(&b->settings->classes, text, colon - text)) {
        enum_record(to, text, colon - text, len);
        return true;
    }
    class = zend_string_init(text, colon - text, 0);
    name = zend_string_init(colon + 1, text + len - colon - 1, 0);
    is_put = put_case(b, class, name, to);
    zend_string_release(class);
    zend_string_release(name);
    return is_put;
}

/* Builds an object from the payload of a class of the program. Payloads of PHP's own
 * classes were opened by the engine, and documents with them are read by PHP. */
bool
ice_build_opaque(ice_builder *b, uint32_t at, zval *to)
{
    ice_class *class = ice_class_of(b->ctx, ICE_CLASS_OF(&b->nodes[at]));
    const icecore_node *payload = &b->nodes[at + 1];
    const char *bytes;
    size_t len;
    if (payload->kind != ICECORE_BYTES && payload->kind != ICECORE_TEXT)
        return false;
    bytes = ice_bytes_of(&b->ctx->view, payload, &len);
    ice_build_say(b, at, false);
    if (class->how == ICE_UNKNOWN && !ice_class_find(class))
        return false;
    if (class->how == ICE_RECORD_OF) {
        object_init_ex(to, ice_record);
        ZVAL_STR_COPY(OBJ_PROP_NUM(Z_OBJ_P(to), 0), class->name);
        ZVAL_STRING(OBJ_PROP_NUM(Z_OBJ_P(to), 1), "serializable");
        ZVAL_STRINGL(OBJ_PROP_NUM(Z_OBJ_P(to), 2), bytes, len);
        return true;
    }
    /* Objects that only PHP makes: a closure, a connection, a generator. */
    if (class->ce && (class->ce->ce_flags & ZEND_ACC_NOT_SERIALIZABLE)) {
        zend_throw_exception_ex(NULL, 0, "Unserialization of '%s' is not allowed", ZSTR_VAL(class->ce->name));
        return false;
    }
    if (!class->ce || !class->ce->unserialize) {
        zend_error(E_WARNING, "Class %s has no unserializer",
                   class->ce ? ZSTR_VAL(class->ce->name) : "__PHP_Incomplete_Class");
        if (object_init_ex(to, class->ce ? class->ce : php_ce_incomplete_class) == FAILURE)
            return false;
        if (!class->ce)
            php_store_class_name(to, class->name);
        return true;
    }
    ZVAL_NULL(to);
    return class->ce->unserialize(to, class->ce, (const unsigned char *)bytes, len, NULL) == SUCCESS && !EG(exception);
}
