/* Builds enum cases and `C:` objects. */
#include "core/build.h"
#include "ext/standard/php_incomplete_class.h"
#include "zend_enum.h"

/* Builds a record for an enum case, whose text is the class, a colon and the case. */
static void
build_enum_record(zval *dest, const char *text, size_t class_len, size_t len)
{
    object_init_ex(dest, ice_record);
    ZVAL_STRINGL(OBJ_PROP_NUM(Z_OBJ_P(dest), ICE_RECORD_CLASS), text, class_len);
    ZVAL_STRING(OBJ_PROP_NUM(Z_OBJ_P(dest), ICE_RECORD_KIND), "enum");
    ZVAL_STRINGL(OBJ_PROP_NUM(Z_OBJ_P(dest), ICE_RECORD_PROPERTIES), text + class_len + 1, len - class_len - 1);
}

/* Warns about an enum case that does not exist. Returns false, which the caller returns as well.
 * igbinary's messages begin with the name of one of its functions. */
static bool
warn_no_case(ice_builder *b, const char *format, ...)
{
    va_list arguments;
    zend_string *message;
    va_start(arguments, format);
    message = zend_vstrpprintf(0, format, arguments);
    va_end(arguments);
    b->ctx->has_warned = true;
    if (b->settings->is_igbinary)
        zend_error(E_WARNING, "igbinary_unserialize_object_enum_case: %s", ZSTR_VAL(message));
    else
        php_error_docref(NULL, E_WARNING, "%s", ZSTR_VAL(message));
    zend_string_release(message);
    return false;
}

/* Looks up an enum case as PHP does, with its warnings. If the lookup fails after the enum was
 * found, PHP reports the offset after the node. Before that, it reports the offset of the node. */
static bool
look_up_enum_case(ice_builder *b, zend_string *class, zend_string *name, zval *dest)
{
    zend_class_entry *ce = zend_is_valid_class_name(class) ? zend_lookup_class(class) : NULL;
    zend_class_constant *constant;
    const char *shown_name;
    if (!ce) {
        if (b->settings->is_igbinary)
            return warn_no_case(b, "Class '%s' does not exist", ZSTR_VAL(class));
        return zend_is_valid_class_name(class) && warn_no_case(b, "Class '%s' not found", ZSTR_VAL(class));
    }
    /* igbinary shows the name as it is declared, PHP as it is in the data. */
    shown_name = ZSTR_VAL(b->settings->is_igbinary ? ce->name : class);
    if (!(ce->ce_flags & ZEND_ACC_ENUM))
        return warn_no_case(b, "Class '%s' is not an enum", shown_name);
    b->ctx->failed_after_node = true;
    constant = zend_hash_find_ptr(CE_CONSTANTS_TABLE(ce), name);
    if (!constant)
        return warn_no_case(b, "Undefined constant %s::%s", shown_name, ZSTR_VAL(name));
    if (!(ZEND_CLASS_CONST_FLAGS(constant) & ZEND_CLASS_CONST_IS_CASE))
        return warn_no_case(b, "%s::%s is not an enum case", shown_name, ZSTR_VAL(name));
    if (Z_TYPE(constant->value) == IS_CONSTANT_AST &&
        zval_update_constant_ex(&constant->value, constant->ce) == FAILURE)
        return false;
    b->ctx->failed_after_node = false;
    ZVAL_COPY(dest, &constant->value);
    return true;
}

bool
ice_build_enum_case(ice_builder *b, const icecore_node *node, zval *dest)
{
    size_t len;
    const char *text = ice_bytes_of(&b->ctx->view, node, &len);
    const char *colon = memchr(text, ':', len);
    zend_string *class, *name;
    bool is_built;
    ice_build_warn_wide(b, (uint32_t)(node - b->nodes), false);
    if (!colon) {
        php_error_docref(NULL, E_WARNING, "Invalid enum name '%.*s' (missing colon)", (int)len, text);
        return false;
    }
    if (ice_policy_makes_record(&b->settings->classes, text, colon - text)) {
        build_enum_record(dest, text, colon - text, len);
        return true;
    }
    class = zend_string_init(text, colon - text, 0);
    name = zend_string_init(colon + 1, text + len - colon - 1, 0);
    is_built = look_up_enum_case(b, class, name, dest);
    zend_string_release(class);
    zend_string_release(name);
    return is_built;
}

/* Builds an object by passing its payload to its class. A document in PHP's own text with such
 * objects is built here only if records are built. Otherwise PHP's own reader reads it:
 * build_php_text in documents.c. */
bool
ice_build_opaque(ice_builder *b, uint32_t node_index, zval *dest)
{
    ice_class *class = ice_class_of(b->ctx, ICE_CLASS_OF(&b->nodes[node_index]));
    const icecore_node *payload = &b->nodes[node_index + 1];
    const char *bytes;
    size_t len;
    if (payload->kind != ICECORE_BYTES && payload->kind != ICECORE_TEXT)
        return false;
    bytes = ice_bytes_of(&b->ctx->view, payload, &len);
    ice_build_warn_wide(b, node_index, false);
    if (class->build_method == ICE_CLASS_UNKNOWN && !ice_class_find(class, b->settings->is_igbinary))
        return false;
    if (class->build_method == ICE_CLASS_AS_RECORD) {
        object_init_ex(dest, ice_record);
        ZVAL_STR_COPY(OBJ_PROP_NUM(Z_OBJ_P(dest), ICE_RECORD_CLASS), class->name);
        ZVAL_STRING(OBJ_PROP_NUM(Z_OBJ_P(dest), ICE_RECORD_KIND), "serializable");
        ZVAL_STRINGL(OBJ_PROP_NUM(Z_OBJ_P(dest), ICE_RECORD_PROPERTIES), bytes, len);
        return true;
    }
    /* Only PHP itself makes such objects: a closure, a generator, a database connection. */
    if (class->ce && (class->ce->ce_flags & ZEND_ACC_NOT_SERIALIZABLE)) {
        zend_throw_exception_ex(NULL, 0, "Unserialization of '%s' is not allowed", ZSTR_VAL(class->ce->name));
        return false;
    }
    if (!class->ce || !class->ce->unserialize) {
        b->ctx->has_warned = true;
        zend_error(E_WARNING, "Class %s has no unserializer",
                   class->ce ? ZSTR_VAL(class->ce->name) : "__PHP_Incomplete_Class");
        /* PHP's own reader then makes an object without properties. igbinary refuses the data. It has no
         * list of allowed classes, and a class that is not listed is incomplete, as in PHP. */
        if (b->settings->is_igbinary && (class->ce || class->verdict != ICECORE_REFUSED))
            return false;
        if (object_init_ex(dest, class->ce ? class->ce : php_ce_incomplete_class) == FAILURE)
            return false;
        if (!class->ce)
            php_store_class_name(dest, class->name);
        return true;
    }
    ZVAL_NULL(dest);
    return class->ce->unserialize(dest, class->ce, (const unsigned char *)bytes, len, NULL) == SUCCESS &&
           !EG(exception);
}
