/* Objects: how their properties are found, and the steps when one is complete. */
#include "core/build.h"

static ice_delayed *
delay(ice_builder *b, uint8_t what)
{
    ice_context *ctx = b->ctx;
    ice_delayed *delayed;
    if (ctx->delayed_count == ctx->delayed_room)
        ctx->delayed = ice_stack_grow(ctx->delayed, &ctx->delayed_room, sizeof *ctx->delayed, 16);
    delayed = &ctx->delayed[ctx->delayed_count++];
    ZVAL_UNDEF(&delayed->object);
    ZVAL_UNDEF(&delayed->data);
    delayed->what = what;
    delayed->place = NULL;
    delayed->ce = NULL;
    return delayed;
}

void
ice_build_free_late(ice_builder *b, zval *value)
{
    if (Z_REFCOUNTED_P(value))
        ZVAL_COPY_VALUE(&delay(b, ICE_FREE)->data, value);
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

/* Returns the name under which the class declares the property now: its visibility may
 * have changed. NULL: it is not declared. `bad`: the name is mangled wrongly, or no
 * value can be stored. */
static zend_string *
declared_name(zend_class_entry *ce, zend_string *key, bool *bad)
{
    const char *home = NULL, *bare;
    size_t len;
    zend_property_info *found = NULL;
    *bad = false;
    if (zend_hash_num_elements(&ce->properties_info) == 0)
        return NULL;
    if (UNEXPECTED(zend_unmangle_property_name_ex(key, &home, &bare, &len) == FAILURE)) {
        *bad = true;
        return NULL;
    }
    if (!home)
        found = zend_hash_find_ptr(&ce->properties_info, key);
    else if (!strcmp(home, "*") || !strcasecmp(home, ZSTR_VAL(ce->name)))
        found = zend_hash_str_find_ptr(&ce->properties_info, bare, len);
#if PHP_VERSION_ID >= 80400
    if (found && UNEXPECTED(found->flags & ZEND_ACC_VIRTUAL)) {
        php_error_docref(NULL, E_WARNING, "Cannot unserialize value for virtual property %s::$%s",
                         ZSTR_VAL(found->ce->name), ZSTR_VAL(key));
        *bad = true;
        return NULL;
    }
#endif
    return found ? found->name : NULL;
}

static bool
may_create(zend_class_entry *ce, zend_string *key)
{
    if (UNEXPECTED(ce->ce_flags & ZEND_ACC_NO_DYNAMIC_PROPERTIES)) {
        zend_throw_error(NULL, "Cannot create dynamic property %s::$%s", ZSTR_VAL(ce->name),
                         zend_get_unmangled_property_name(key));
        return false;
    }
#if PHP_VERSION_ID >= 80200
    if (!(ce->ce_flags & ZEND_ACC_ALLOW_DYNAMIC_PROPERTIES)) {
        zend_error(E_DEPRECATED, "Creation of dynamic property %s::$%s is deprecated", ZSTR_VAL(ce->name),
                   zend_get_unmangled_property_name(key));
        return !EG(exception);
    }
#endif
    return true;
}

static zval *
slot_of(ice_builder *b, zend_object *object, zval *slot, zend_property_info **type)
{
    *type = zend_get_typed_property_info_for_slot(object, slot);
    ice_build_clear_slot(b, slot, *type);
    return slot;
}

/* Returns the object's table, with room for all properties in the text: a registered
 * place must not move when others are added. */
static HashTable *
properties_of(ice_builder *b, ice_build_frame *frame)
{
    if (!frame->table) {
        HashTable *table = frame->object->handlers->get_properties(frame->object);
        zend_hash_extend(table, zend_hash_num_elements(table) + b->nodes[frame->node + 1].aux, HT_FLAGS(table) & HASH_FLAG_PACKED);
        frame->table = table;
    }
    return frame->table;
}

zval *
ice_build_property(ice_builder *b, ice_build_frame *frame, zend_string *key, zend_property_info **type)
{
    zend_object *object = frame->object;
    HashTable *table = properties_of(b, frame);
    zval *place = zend_hash_find(table, key);
    zend_string *name;
    bool bad;
    *type = NULL;
    if (place && Z_TYPE_P(place) == IS_INDIRECT)
        return slot_of(b, object, Z_INDIRECT_P(place), type);
    /* A message from here on is about the key. */
    ice_build_say(b, b->failed, b->nodes[b->failed].key == ICECORE_IS_KEY);
    name = declared_name(object->ce, key, &bad);
    if (bad)
        return NULL;
    if (name) {
        place = zend_hash_lookup(table, name);
        if (Z_TYPE_P(place) == IS_INDIRECT)
            return slot_of(b, object, Z_INDIRECT_P(place), type);
    } else if (!place)
        return may_create(object->ce, key) ? zend_hash_add_new(table, key, &EG(uninitialized_zval)) : NULL;
    ice_build_free_late(b, place);
    ZVAL_NULL(place);
    return place;
}

bool
ice_build_check_type(ice_builder *b, zend_property_info *type, zval *value)
{
    if (!zend_verify_prop_assignable_by_ref(type, value, /* strict */ 1)) {
        zval refused;
        ZVAL_COPY_VALUE(&refused, value);
        ZVAL_UNDEF(value);
        zval_ptr_dtor(&refused);
        return false;
    }
    if (Z_ISREF_P(value))
        ZEND_REF_ADD_TYPE_SOURCE(Z_REF_P(value), type);
    return true;
}

bool
ice_build_end_typed(ice_builder *b, uint32_t at, zval *to, zend_property_info *type)
{
    ice_build_say(b, ice_next(&b->ctx->view, at) - 1, true);
    if (!ice_build_check_type(b, type, to)) {
        b->failed = at;
        return false;
    }
    if (UNEXPECTED(b->nodes[at].flags & ICECORE_FLAG_TARGET) && !Z_ISREF_P(to))
        ice_build_typed_target(b, at, type);
    return true;
}

/* ---- beginning and end -------------------------------------------------- */

static void
begin_record(ice_class *class, uint32_t count, zval *to, HashTable **table)
{
    zval *property;
    object_init_ex(to, ice_record);
    property = OBJ_PROP_NUM(Z_OBJ_P(to), 0);
    ZVAL_STR_COPY(property, class->name);
    ZVAL_STRING(OBJ_PROP_NUM(Z_OBJ_P(to), 1), "object");
    property = OBJ_PROP_NUM(Z_OBJ_P(to), 2);
    ice_memory_need((size_t)count * sizeof(Bucket));
    array_init_size(property, count);
    zend_hash_real_init_mixed(Z_ARRVAL_P(property));
    *table = Z_ARRVAL_P(property);
}

/* Whether an object declares nothing; then it gets its table at once. */
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

/* Builds the next object of a class of which one was made before. */
static bool
next_object(ice_builder *b, ice_class *class, uint32_t at, zval *to, zend_property_info *type)
{
    const uint32_t end = ice_next(&b->ctx->view, at);
    uint32_t behind = at + 2, index;
    zend_object *object = ice_build_slots(b, class, &behind, end, &index);
    ice_build_frame *frame;
    ZVAL_OBJ(to, object);
    if (UNEXPECTED(b->nodes[at].flags & ICECORE_FLAG_TARGET))
        ice_build_target(b, at, to);
    if (EXPECTED(behind == end) && EXPECTED(!class->has_wakeup))
        return !type || ice_build_end_typed(b, at, to, type);
    frame = ice_build_push(b, B_SLOTS, at, behind, to, type);
    frame->index = index;
    frame->object = object;
    frame->class = class;
    return true;
}

bool
ice_build_object(ice_builder *b, uint32_t at, zval *to, zend_property_info *type)
{
    const icecore_node *body = &b->nodes[at + 1];
    const uint32_t id = ICE_CLASS_OF(&b->nodes[at]);
    ice_class *class = EXPECTED(b->class && b->class_id == id) ? b->class : ice_class_of(b->ctx, id);
    ice_build_frame *frame;
    zend_object *object = NULL;
    HashTable *table = NULL;
    uint8_t kind = B_SLOTS;
    b->class_id = id;
    b->class = class;
    if (EXPECTED(class->how == ICE_SLOTS && class->property_count && class->is_ready) &&
        EXPECTED(!b->settings->by_state && !class->ce->destructor)) {
        return next_object(b, class, at, to, type);
    }
    if (UNEXPECTED(!class->is_ready))
        ice_build_say(b, at, false);
    if (UNEXPECTED(class->how == ICE_UNKNOWN) && !ice_class_find(class))
        return false;
    if (UNEXPECTED(b->settings->by_state) && class->ce && class->how != ICE_RECORD_OF &&
        zend_hash_str_exists(&class->ce->function_table, ZEND_STRL("__set_state"))) {
        kind = B_STATE;
        ZVAL_NULL(to);
    } else if (UNEXPECTED(class->how == ICE_RECORD_OF)) {
        begin_record(class, body->aux, to, &table);
        object = Z_OBJ_P(to);
        kind = B_RECORD;
    } else {
        object = ice_class_object(class, !b->settings->is_igbinary);
        if (UNEXPECTED(!object)) {
            b->ctx->failed_behind = true;
            return false;
        }
        ZVAL_OBJ(to, object);
        if (class->how == ICE_TABLE)
            kind = B_TABLE;
        else if (UNEXPECTED(class->how == ICE_ARRAY))
            kind = B_ARRAY;
        else if (has_members_only(object)) {
            kind = B_MEMBERS;
            if (body->aux) {
                ice_memory_need((size_t)body->aux * sizeof(Bucket));
                object->properties = table = zend_new_array(body->aux);
                zend_hash_real_init_mixed(table);
            }
        }
    }
    if (b->nodes[at].flags & ICECORE_FLAG_TARGET)
        ice_build_target(b, at, to);
    frame = ice_build_push(b, kind, at, at + 2, to, type);
    frame->table = table;
    frame->object = object;
    frame->class = class;
    if (kind == B_ARRAY || kind == B_STATE) {
        ice_memory_need((size_t)body->aux * sizeof(Bucket));
        frame->table = zend_new_array(body->aux);
        zend_hash_real_init_mixed(frame->table);
    }
    return true;
}

void
ice_build_end_object(ice_builder *b, const ice_build_frame *frame)
{
    ice_delayed *delayed;
    switch (frame->kind) {
    case B_STATE:
        delayed = delay(b, ICE_SET_STATE);
        delayed->place = frame->place;
        delayed->ce = frame->class->ce;
        ZVAL_ARR(&delayed->data, frame->table);
        break;
    case B_ARRAY:
        delayed = delay(b, ICE_UNSERIALIZE);
        ZVAL_OBJ_COPY(&delayed->object, frame->object);
        ZVAL_ARR(&delayed->data, frame->table);
        break;
    case B_RECORD: break;
    default:
        if (UNEXPECTED(frame->class->has_wakeup)) {
            delayed = delay(b, ICE_WAKE);
            ZVAL_OBJ_COPY(&delayed->object, frame->object);
        }
    }
}
