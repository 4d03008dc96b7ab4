/* Builds objects: finds their properties, and schedules the hooks of complete objects. */
#include "core/build.h"

/* Appends an action. The caller sets its values. */
static ice_delayed_action *
delay_action(ice_builder *b, uint8_t action)
{
    ice_context *ctx = b->ctx;
    ice_delayed_action *delayed;
    if (ctx->delayed_action_count == ctx->delayed_action_capacity)
        ctx->delayed_actions =
            ice_stack_grow(ctx->delayed_actions, &ctx->delayed_action_capacity, sizeof *ctx->delayed_actions, 16);
    delayed = &ctx->delayed_actions[ctx->delayed_action_count++];
    ZVAL_UNDEF(&delayed->object);
    ZVAL_UNDEF(&delayed->data);
    delayed->action = action;
    delayed->dest = NULL;
    delayed->ce = NULL;
    return delayed;
}

void
ice_build_free_late(ice_builder *b, zval *value)
{
    if (Z_REFCOUNTED_P(value))
        ZVAL_COPY_VALUE(&delay_action(b, ICE_DELAYED_FREE)->data, value);
}

/* ---- properties --------------------------------------------------------- */

void
ice_build_clear_slot(ice_builder *b, zval *slot, zend_property_info *type)
{
    if (type && Z_ISREF_P(slot))
        ZEND_REF_DEL_TYPE_SOURCE(Z_REF_P(slot), type);
    ice_build_free_late(b, slot);
    ZVAL_NULL(slot);
}

/* Returns the mangled name of a property as the class declares it now, because its visibility
 * may have changed since `key` was written. Returns NULL if the class does not declare it.
 * `is_invalid` receives true if the key is mangled wrongly, or if the property is virtual. */
static zend_string *
declared_name(zend_class_entry *ce, zend_string *key, bool *is_invalid)
{
    const char *class_name = NULL, *bare_name;
    size_t bare_len;
    zend_property_info *info = NULL;
    *is_invalid = false;
    if (zend_hash_num_elements(&ce->properties_info) == 0)
        return NULL;
    if (UNEXPECTED(zend_unmangle_property_name_ex(key, &class_name, &bare_name, &bare_len) == FAILURE)) {
        *is_invalid = true;
        return NULL;
    }
    if (!class_name)
        info = zend_hash_find_ptr(&ce->properties_info, key);
    else if (!strcmp(class_name, "*") || !strcasecmp(class_name, ZSTR_VAL(ce->name)))
        info = zend_hash_str_find_ptr(&ce->properties_info, bare_name, bare_len);
#if PHP_VERSION_ID >= 80400
    if (info && UNEXPECTED(info->flags & ZEND_ACC_VIRTUAL)) {
        php_error_docref(NULL, E_WARNING, "Cannot unserialize value for virtual property %s::$%s",
                         ZSTR_VAL(info->ce->name), ZSTR_VAL(key));
        *is_invalid = true;
        return NULL;
    }
#endif
    return info ? info->name : NULL;
}

/* Returns true if an object may get a property that its class does not declare. The messages of
 * igbinary name its function. */
static bool
may_create(const ice_builder *b, zend_class_entry *ce, zend_string *key)
{
    const bool is_igbinary = b->settings->is_igbinary;
    if (UNEXPECTED(ce->ce_flags & ZEND_ACC_NO_DYNAMIC_PROPERTIES)) {
        zend_throw_error(NULL, "Cannot create dynamic property %s::$%s%s", ZSTR_VAL(ce->name),
                         zend_get_unmangled_property_name(key), is_igbinary ? " in igbinary_unserialize" : "");
        return false;
    }
#if PHP_VERSION_ID >= 80200
    if (!(ce->ce_flags & ZEND_ACC_ALLOW_DYNAMIC_PROPERTIES)) {
        const char *name = zend_get_unmangled_property_name(key);
        if (is_igbinary)
            php_error_docref(NULL, E_DEPRECATED, "Creation of dynamic property %s::$%s is deprecated",
                             ZSTR_VAL(ce->name), name);
        else
            zend_error(E_DEPRECATED, "Creation of dynamic property %s::$%s is deprecated", ZSTR_VAL(ce->name), name);
        return !EG(exception);
    }
#endif
    return true;
}

/* Removes the value of a slot, and returns the slot. */
static zval *
emptied_slot(ice_builder *b, zend_object *object, zval *slot, zend_property_info **type)
{
    *type = zend_get_typed_property_info_for_slot(object, slot);
    ice_build_clear_slot(b, slot, *type);
    return slot;
}

/* Returns the object's hash table, with room for all properties of the data. A link may refer to
 * the place of a property, and this place must not move when other properties are added. */
static HashTable *
property_table(ice_builder *b, ice_build_frame *frame)
{
    if (!frame->table) {
        HashTable *table = frame->object->handlers->get_properties(frame->object);
        const icecore_node *body = &b->nodes[frame->node + 1];
        zend_hash_extend(table, zend_hash_num_elements(table) + body->aux, HT_FLAGS(table) & HASH_FLAG_PACKED);
        frame->table = table;
    }
    return frame->table;
}

zval *
ice_build_property(ice_builder *b, ice_build_frame *frame, zend_string *key, zend_property_info **type)
{
    zend_object *object = frame->object;
    HashTable *table = property_table(b, frame);
    zval *place = zend_hash_find(table, key);
    zend_string *name;
    bool is_invalid = false;
    *type = NULL;
    b->has_other_name = false;
    /* In a table of properties, PHP's IS_INDIRECT leads to the slot of a declared property. */
    if (place && Z_TYPE_P(place) == IS_INDIRECT)
        return emptied_slot(b, object, Z_INDIRECT_P(place), type);
    /* A warning from here on is about the key. If the key has a node of its own, this is the failed
     * node, and its value is included. */
    ice_build_warn_wide(b, b->failed_node, b->nodes[b->failed_node].key == ICECORE_IS_KEY);
    /* igbinary looks only for the name in the data. */
    name = b->settings->is_igbinary ? NULL : declared_name(object->ce, key, &is_invalid);
    if (is_invalid)
        return NULL;
    if (name) {
        b->has_other_name = true;
        place = zend_hash_lookup(table, name);
        if (Z_TYPE_P(place) == IS_INDIRECT)
            return emptied_slot(b, object, Z_INDIRECT_P(place), type);
    } else if (!place)
        return may_create(b, object->ce, key) ? zend_hash_add_new(table, key, &EG(uninitialized_zval)) : NULL;
    ice_build_free_late(b, place);
    ZVAL_NULL(place);
    return place;
}

bool
ice_build_check_type(ice_builder *b, zend_property_info *type, zval *value)
{
    if (!zend_verify_prop_assignable_by_ref(type, value, /* strict */ 1)) {
        zval old_value;
        ZVAL_COPY_VALUE(&old_value, value);
        ZVAL_UNDEF(value);
        zval_ptr_dtor(&old_value);
        return false;
    }
    if (Z_ISREF_P(value))
        ZEND_REF_ADD_TYPE_SOURCE(Z_REF_P(value), type);
    return true;
}

bool
ice_build_finish_typed(ice_builder *b, uint32_t node_index, zval *dest, zend_property_info *type)
{
    ice_build_warn_wide(b, ice_next(&b->ctx->view, node_index) - 1, true);
    if (!ice_build_check_type(b, type, dest)) {
        b->failed_node = node_index;
        return false;
    }
    if (UNEXPECTED(b->nodes[node_index].flags & ICECORE_FLAG_TARGET) && !Z_ISREF_P(dest))
        ice_build_set_target_type(b, node_index, type);
    return true;
}

/* ---- beginning and end -------------------------------------------------- */

/* An object begins with two nodes: the object, and the map that is its body. */
enum { HEADER_NODES = 2 };

/* Makes an Icecore\Record. `table` receives the array for its properties. */
static void
begin_record(ice_class *class, uint32_t count, zval *dest, HashTable **table)
{
    zval *property;
    object_init_ex(dest, ice_record);
    property = OBJ_PROP_NUM(Z_OBJ_P(dest), ICE_RECORD_CLASS);
    ZVAL_STR_COPY(property, class->name);
    ZVAL_STRING(OBJ_PROP_NUM(Z_OBJ_P(dest), ICE_RECORD_KIND), "object");
    property = OBJ_PROP_NUM(Z_OBJ_P(dest), ICE_RECORD_PROPERTIES);
    ice_memory_check((size_t)count * sizeof(Bucket));
    array_init_size(property, count);
    zend_hash_real_init_mixed(Z_ARRVAL_P(property));
    *table = Z_ARRVAL_P(property);
}

/* Returns true if the class of an object declares no properties, and allows any property. Such an
 * object gets a hash table of properties when it is made. */
static bool
has_members_only(zend_object *object)
{
    const zend_class_entry *ce = object->ce;
#if PHP_VERSION_ID >= 80200
    return ce->default_properties_count == 0 && zend_hash_num_elements(&ce->properties_info) == 0 &&
           (ce->ce_flags & ZEND_ACC_ALLOW_DYNAMIC_PROPERTIES);
#else
    return ce->default_properties_count == 0 && zend_hash_num_elements(&ce->properties_info) == 0 &&
           !(ce->ce_flags & ZEND_ACC_NO_DYNAMIC_PROPERTIES);
#endif
}

/* Builds an object of a class of which one was built before. */
static bool
build_similar_object(ice_builder *b, ice_class *class, uint32_t node_index, zval *dest, zend_property_info *type)
{
    const uint32_t end = ice_next(&b->ctx->view, node_index);
    uint32_t next_node = node_index + HEADER_NODES, built_count;
    zend_object *object = ice_build_slots(b, class, &next_node, end, &built_count);
    ice_build_frame *frame;
    ZVAL_OBJ(dest, object);
    if (UNEXPECTED(b->nodes[node_index].flags & ICECORE_FLAG_TARGET))
        ice_build_add_target(b, node_index, dest);
    if (EXPECTED(next_node == end) && EXPECTED(!class->has_wakeup))
        return !type || ice_build_finish_typed(b, node_index, dest, type);
    frame = ice_build_push_frame(b, ICE_BUILD_SLOTS, node_index, next_node, dest, type);
    frame->built_count = built_count;
    frame->object = object;
    frame->class = class;
    return true;
}

bool
ice_build_object(ice_builder *b, uint32_t node_index, zval *dest, zend_property_info *type)
{
    const icecore_node *body = &b->nodes[node_index + 1];
    const uint32_t id = ICE_CLASS_OF(&b->nodes[node_index]);
    ice_class *class = EXPECTED(b->class && b->class_id == id) ? b->class : ice_class_of(b->ctx, id);
    ice_build_frame *frame;
    zend_object *object = NULL;
    HashTable *table = NULL;
    uint8_t kind = ICE_BUILD_SLOTS;
    b->class_id = id;
    b->class = class;
    if (EXPECTED(class->build_method == ICE_CLASS_BY_SLOTS && class->property_count && class->is_ready) &&
        EXPECTED(!b->settings->uses_set_state && !class->ce->destructor)) {
        return build_similar_object(b, class, node_index, dest, type);
    }
    if (UNEXPECTED(!class->is_ready))
        ice_build_warn_wide(b, node_index, false);
    if (UNEXPECTED(class->build_method == ICE_CLASS_UNKNOWN) && !ice_class_find(class, b->settings->is_igbinary))
        return false;
    if (UNEXPECTED(b->settings->uses_set_state) && class->ce && class->build_method != ICE_CLASS_AS_RECORD &&
        zend_hash_str_exists(&class->ce->function_table, ZEND_STRL("__set_state"))) {
        /* The array for __set_state is built first. The value is null until this method has
         * returned the object. */
        kind = ICE_BUILD_SET_STATE;
        ZVAL_NULL(dest);
    } else if (UNEXPECTED(class->build_method == ICE_CLASS_AS_RECORD)) {
        begin_record(class, body->aux, dest, &table);
        object = Z_OBJ_P(dest);
        kind = ICE_BUILD_RECORD;
    } else {
        object = ice_class_object(class, !b->settings->is_igbinary);
        if (UNEXPECTED(!object)) {
            b->ctx->failed_after_node = true;
            return false;
        }
        ZVAL_OBJ(dest, object);
        if (class->build_method == ICE_CLASS_BY_TABLE)
            kind = ICE_BUILD_TABLE;
        else if (UNEXPECTED(class->build_method == ICE_CLASS_BY_UNSERIALIZE))
            kind = ICE_BUILD_UNSERIALIZE;
        else if (has_members_only(object)) {
            kind = ICE_BUILD_MEMBERS;
            if (body->aux) {
                ice_memory_check((size_t)body->aux * sizeof(Bucket));
                object->properties = table = zend_new_array(body->aux);
                zend_hash_real_init_mixed(table);
            }
        }
    }
    if (b->nodes[node_index].flags & ICECORE_FLAG_TARGET)
        ice_build_add_target(b, node_index, dest);
    frame = ice_build_push_frame(b, kind, node_index, node_index + HEADER_NODES, dest, type);
    frame->table = table;
    frame->object = object;
    frame->class = class;
    if (kind == ICE_BUILD_UNSERIALIZE || kind == ICE_BUILD_SET_STATE) {
        ice_memory_check((size_t)body->aux * sizeof(Bucket));
        frame->table = zend_new_array(body->aux);
        zend_hash_real_init_mixed(frame->table);
    }
    return true;
}

void
ice_build_end_object(ice_builder *b, const ice_build_frame *frame)
{
    ice_delayed_action *delayed;
    switch (frame->kind) {
    case ICE_BUILD_SET_STATE:
        delayed = delay_action(b, ICE_DELAYED_SET_STATE);
        delayed->dest = frame->dest;
        delayed->ce = frame->class->ce;
        ZVAL_ARR(&delayed->data, frame->table);
        break;
    case ICE_BUILD_UNSERIALIZE:
        delayed = delay_action(b, ICE_DELAYED_UNSERIALIZE);
        ZVAL_OBJ_COPY(&delayed->object, frame->object);
        ZVAL_ARR(&delayed->data, frame->table);
        break;
    case ICE_BUILD_RECORD: break;
    default:
        if (UNEXPECTED(frame->class->has_wakeup)) {
            delayed = delay_action(b, ICE_DELAYED_WAKEUP);
            ZVAL_OBJ_COPY(&delayed->object, frame->object);
        }
    }
}
