/* Chooses how an object is serialized, and begins it. */
#include "core/walk.h"
#include "core/hooks.h"
#include "ext/standard/php_incomplete_class.h"
#include "zend_enum.h"

/* Returns the engine's id of a class. */
static uint32_t
class_id(ice_walker *w, zend_class_entry *ce)
{
    return ice_walk_class_info(w, ce)->id;
}

/* Pushes null in the place of an object that can't be written. */
static void
push_null(ice_walker *w, uint16_t key)
{
    ice_push(w->engine, w->tape, ICECORE_NULL, 0, key, 0, 0);
}

/* Pushes an enum case as the text `Class:Case`. */
static bool
push_enum_case(ice_walker *w, zend_object *object, uint16_t key)
{
    const zval *name = zend_enum_fetch_case_name(object);
    zend_string *text = zend_string_concat3(ZSTR_VAL(object->ce->name), ZSTR_LEN(object->ce->name), ":", 1,
                                            Z_STRVAL_P(name), Z_STRLEN_P(name));
    ice_push_string(w->engine, w->tape, ICECORE_ENUM_CASE, 0, key, ZSTR_VAL(text), ZSTR_LEN(text));
    zend_string_release(text);
    return true;
}

/* Called before each hook. Returns false if PHP itself must write the value. */
static bool
prepare_hook_call(ice_walker *w)
{
    if (!w->has_called_hooks && w->purpose != ICE_FOR_IGBINARY && UNEXPECTED(ice_walk_has_serializable_class()))
        return ice_walk_stop(w, ICE_NEEDS_PHP);
    w->has_called_hooks = true;
    return true;
}

/* Pushes an object by the array that __serialize returns. */
static bool
push_serialize_result(ice_walker *w, zend_object *object, uint16_t key)
{
    zval result;
    ice_walk_frame *frame;
    if (!prepare_hook_call(w))
        return false;
    if (!ice_hook_serialize(object, &result))
        return ice_walk_stop(w, ICE_THROWN);
    ice_walk_push_header(w, key, class_id(w, object->ce));
    GC_ADDREF(object);
    frame = ice_walk_push_frame(w, ICE_WALK_HOOK_RESULT, w->tape->node_count - 1, Z_ARRVAL(result), object,
                                zend_hash_num_elements(Z_ARRVAL(result)));
    frame->is_shared = GC_REFCOUNT(Z_ARRVAL(result)) > 1;
    return true;
}

/* Returns a list with the values of a table as they are in it. A declared property is only
 * IS_INDIRECT there, which is not a string, so null takes its place. */
static HashTable *
list_direct_values(HashTable *table)
{
    HashTable *list = zend_new_array(zend_hash_num_elements(table));
    zval *value;
    ZEND_HASH_FOREACH_VAL(table, value) {
        zval item;
        if (Z_TYPE_P(value) == IS_STRING)
            ZVAL_COPY(&item, value);
        else
            ZVAL_NULL(&item);
        zend_hash_next_index_insert(list, &item);
    } ZEND_HASH_FOREACH_END();
    return list;
}

/* Returns the names that __sleep returned, with a reference. In igbinary they may also be the
 * properties of an object. Any other result is a notice and no names. Returns NULL if an exception
 * was thrown. */
static HashTable *
names_for_igbinary(zval *result)
{
    HashTable *names;
    if (Z_TYPE_P(result) == IS_ARRAY)
        return Z_ARRVAL_P(result);
    if (Z_TYPE_P(result) == IS_OBJECT)
        names = list_direct_values(Z_OBJPROP_P(result));
    else
        names = ice_walk_warn_no_names() ? zend_new_array(0) : NULL;
    zval_ptr_dtor(result);
    return names;
}

/* Pushes an object for igbinary, with the properties that __sleep names. */
static bool
push_sleep_names(ice_walker *w, zend_object *object, zend_function *sleep, uint16_t key)
{
    HashTable *names = NULL;
    zval result;
    w->has_called_hooks = true;
    /* This reference keeps the object alive while the hook runs. Then it passes to the frame. */
    GC_ADDREF(object);
    if (ice_hook_call_sleep(object, sleep, &result))
        names = names_for_igbinary(&result);
    if (!names) {
        OBJ_RELEASE(object);
        return ice_walk_stop(w, ICE_THROWN);
    }
    ice_walk_push_header(w, key, class_id(w, object->ce));
    ice_walk_push_frame(w, ICE_WALK_NAMES, w->tape->node_count - 1, names, object, zend_hash_num_elements(names));
    return true;
}

/* Pushes an object with the properties that __sleep names; null if __sleep returns no array. */
static bool
push_sleep_properties(ice_walker *w, zend_object *object, zend_function *sleep, uint16_t key)
{
    HashTable *names, *properties;
    if (w->purpose == ICE_FOR_IGBINARY)
        return push_sleep_names(w, object, sleep, key);
    if (!prepare_hook_call(w))
        return false;
    /* This reference keeps the object alive while the hook runs. Then it passes to the frame. */
    GC_ADDREF(object);
    names = ice_hook_sleep(object, sleep);
    if (!names) {
        OBJ_RELEASE(object);
        if (EG(exception))
            return ice_walk_stop(w, ICE_THROWN);
        push_null(w, key);
        return true;
    }
    properties = ice_walk_sleep(object, names);
    zend_array_release(names);
    if (!properties) {
        OBJ_RELEASE(object);
        return ice_walk_stop(w, ICE_THROWN);
    }
    ice_walk_push_header(w, key, class_id(w, object->ce));
    ice_walk_push_frame(w, ICE_WALK_TABLE, w->tape->node_count - 1, properties, object,
                        zend_hash_num_elements(properties));
    return true;
}

/* Pushes a `C:` object for igbinary, in which links do not count the values of a payload. */
static bool
push_c_object(ice_walker *w, zend_object *object, uint16_t key)
{
    unsigned char *bytes = NULL;
    size_t len = 0;
    zval value;
    uint32_t node;
    w->has_called_hooks = true;
    ZVAL_OBJ_COPY(&value, object);
    if (object->ce->serialize(&value, &bytes, &len, NULL) == FAILURE || EG(exception)) {
        if (bytes)
            efree(bytes);
        zval_ptr_dtor(&value);
        if (EG(exception))
            return ice_walk_stop(w, ICE_THROWN);
        push_null(w, key);
        return true;
    }
    node = ice_push(w->engine, w->tape, ICECORE_OPAQUE, 0, key, 1,
                    ICE_CLASS(class_id(w, object->ce)) | ICE_FORM(ICECORE_FORM_SERIALIZABLE));
    ice_push_string(w->engine, w->tape, ICECORE_BYTES, 0, 0, (const char *)bytes, len);
    ice_end_node(w->tape, node, 1, 0);
    if (bytes)
        efree(bytes);
    zval_ptr_dtor(&value);
    return true;
}

/* Pushes the object or enum case from which an Icecore\Record was built. */
static bool
push_record(ice_walker *w, zend_object *object, uint16_t key)
{
    zval *class = OBJ_PROP_NUM(object, ICE_RECORD_CLASS), *kind = OBJ_PROP_NUM(object, ICE_RECORD_KIND);
    zval *content = OBJ_PROP_NUM(object, ICE_RECORD_PROPERTIES);
    ice_walk_frame *frame;
    uint32_t id;
    ZVAL_DEREF(class);
    ZVAL_DEREF(kind);
    ZVAL_DEREF(content);
    if (Z_TYPE_P(class) != IS_STRING || Z_TYPE_P(kind) != IS_STRING) {
        zend_throw_error(NULL, "Icecore\\Record::$class and $kind must be set");
        return ice_walk_stop(w, ICE_THROWN);
    }
    if (zend_string_equals_literal(Z_STR_P(kind), "enum") && Z_TYPE_P(content) == IS_STRING) {
        zend_string *text = zend_string_concat3(Z_STRVAL_P(class), Z_STRLEN_P(class), ":", 1, Z_STRVAL_P(content),
                                                Z_STRLEN_P(content));
        ice_push_string(w->engine, w->tape, ICECORE_ENUM_CASE, 0, key, ZSTR_VAL(text), ZSTR_LEN(text));
        zend_string_release(text);
        return true;
    }
    id = icecore_class(w->engine, ICECORE_BYTES, (const uint8_t *)Z_STRVAL_P(class), Z_STRLEN_P(class));
    if (zend_string_equals_literal(Z_STR_P(kind), "serializable") && Z_TYPE_P(content) == IS_STRING && id) {
        const uint32_t node = ice_push(w->engine, w->tape, ICECORE_OPAQUE, 0, key, 1,
                                       ICE_CLASS(id) | ICE_FORM(ICECORE_FORM_SERIALIZABLE));
        ice_push_string(w->engine, w->tape, ICECORE_BYTES, 0, 0, Z_STRVAL_P(content), Z_STRLEN_P(content));
        ice_end_node(w->tape, node, 1, 0);
        return true;
    }
    if (!zend_string_equals_literal(Z_STR_P(kind), "object") || Z_TYPE_P(content) != IS_ARRAY || !id) {
        zend_throw_error(NULL, "Icecore\\Record::$properties must be an array, or a string if $kind is \"enum\" or "
                               "\"serializable\"");
        return ice_walk_stop(w, ICE_THROWN);
    }
    ice_walk_push_header(w, key, id);
    GC_ADDREF(object);
    GC_TRY_ADDREF(Z_ARRVAL_P(content));
    frame = ice_walk_push_frame(w, ICE_WALK_TABLE, w->tape->node_count - 1, Z_ARRVAL_P(content), object,
                                zend_hash_num_elements(Z_ARRVAL_P(content)));
    frame->is_shared = true;
    return true;
}

/* Pushes an incomplete object, which has the name of its class as a property. */
static void
push_incomplete(ice_walker *w, zend_object *object, uint16_t key)
{
    zend_string *name = php_lookup_class_name(object);
    uint32_t id;
    ice_walk_frame *frame;
    HashTable *table;
    zval value;
    uint32_t count;
    if (!name)
        name = zend_string_init(ZEND_STRL("__PHP_Incomplete_Class"), 0);
    id = icecore_class(w->engine, ICECORE_BYTES, (const uint8_t *)ZSTR_VAL(name), ZSTR_LEN(name));
    zend_string_release(name);
    if (!id)
        ice_host_fail("too many classes");
    ice_walk_push_header(w, key, id);
    GC_ADDREF(object);
    ZVAL_OBJ(&value, object);
    table = zend_get_properties_for(&value, ZEND_PROP_PURPOSE_SERIALIZE);
    /* PHP always subtracts one for the property with the name, even if the object has none. */
    count = zend_array_count(table);
    frame = ice_walk_push_frame(w, ICE_WALK_TABLE, w->tape->node_count - 1, table, object, count ? count - 1 : 0);
    frame->is_shared = frame->skips_class_name = true;
}

/* Pushes an object with all its properties. */
static bool
push_properties(ice_walker *w, zend_object *object, uint16_t key)
{
    const ice_written_class *class_info = ice_walk_class_info(w, object->ce);
    HashTable *table;
    zval value;
    uint32_t count;
    if (EXPECTED(ice_walk_has_slots_only(object, class_info))) {
        *ice_walk_cache_entry(w->ctx, object->ce) = class_info;
        return ice_walk_slots(w, object, key, class_info);
    }
    ZVAL_OBJ(&value, object);
    GC_ADDREF(object);
    table = zend_get_properties_for(&value, ZEND_PROP_PURPOSE_SERIALIZE);
    if (EG(exception)) {
        if (table)
            zend_release_properties(table);
        OBJ_RELEASE(object);
        return ice_walk_stop(w, ICE_THROWN);
    }
    ice_walk_push_header(w, key, class_id(w, object->ce));
    count = ice_walk_writes_unset(w) ? zend_hash_num_elements(table) : zend_array_count(table);
    ice_walk_push_frame(w, ICE_WALK_TABLE, w->tape->node_count - 1, table, object, count)->is_shared = true;
    return true;
}

/* Returns true if a property has a get hook (PHP 8.4). */
static bool
has_hooked_property(HashTable *table)
{
    zval *value;
    ZEND_HASH_FOREACH_VAL(table, value) {
        if (Z_TYPE_P(value) == IS_PTR)
            return true;
    } ZEND_HASH_FOREACH_END();
    return false;
}

/* Pushes an object as var_export shows it, without calling its methods. */
static bool
push_exported(ice_walker *w, zend_object *object, uint16_t key)
{
    HashTable *table;
    ice_walk_frame *frame;
    zval value;
    /* No reader accepts the name of an anonymous class. */
    if (object->ce->ce_flags & ZEND_ACC_ANON_CLASS)
        return ice_walk_stop(w, ICE_NEEDS_PHP);
    if (GC_IS_RECURSIVE(object)) {
        ice_walk_push_recursion(w, key);
        return true;
    }
    GC_ADDREF(object);
    GC_PROTECT_RECURSION(object);
    ZVAL_OBJ(&value, object);
    table = zend_get_properties_for(&value, ZEND_PROP_PURPOSE_VAR_EXPORT);
    if (!table)
        table = (HashTable *)&zend_empty_array;
    if (UNEXPECTED(has_hooked_property(table))) {
        GC_UNPROTECT_RECURSION(object);
        zend_release_properties(table);
        OBJ_RELEASE(object);
        return ice_walk_stop(w, ICE_NEEDS_PHP);
    }
    ice_walk_push_header(w, key, class_id(w, object->ce));
    frame = ice_walk_push_frame(w, ICE_WALK_TABLE, w->tape->node_count - 1, table, object, zend_array_count(table));
    frame->is_protected = true;
    return true;
}

bool
ice_walk_object(ice_walker *w, zend_object *object, uint16_t key)
{
    zend_class_entry *ce = object->ce;
    zval *sleep;
    if (UNEXPECTED(w->purpose == ICE_FOR_EXPORT))
        return ce->ce_flags & ZEND_ACC_ENUM ? push_enum_case(w, object, key) : push_exported(w, object, key);
    if (UNEXPECTED(ce->ce_flags & ZEND_ACC_NOT_SERIALIZABLE)) {
        zend_throw_exception_ex(NULL, 0, "Serialization of '%s' is not allowed", ZSTR_VAL(ce->name));
        return ice_walk_stop(w, ICE_THROWN);
    }
    if (UNEXPECTED(ce->ce_flags & ZEND_ACC_ENUM))
        return push_enum_case(w, object, key);
    /* As in PHP, __serialize is used before Serializable, and both are used before __sleep. */
    if (ce->__serialize)
        return push_serialize_result(w, object, key);
    if (UNEXPECTED(ce->serialize != NULL))
        return w->purpose == ICE_FOR_IGBINARY ? push_c_object(w, object, key) : ice_walk_stop(w, ICE_NEEDS_PHP);
    if (UNEXPECTED(ce == php_ce_incomplete_class)) {
        push_incomplete(w, object, key);
        return true;
    }
    if (UNEXPECTED(ce == ice_record))
        return push_record(w, object, key);
    sleep = zend_hash_find_known_hash(&ce->function_table, ZSTR_KNOWN(ZEND_STR_SLEEP));
    if (UNEXPECTED(sleep != NULL))
        return push_sleep_properties(w, object, Z_FUNC_P(sleep), key);
    return push_properties(w, object, key);
}
