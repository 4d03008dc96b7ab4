/* The loop of the build, with arrays, keys and declared properties. */
#include "core/build_leaf.h"
#include "core/hooks.h"

/* ---- arrays ------------------------------------------------------------- */

#if PHP_VERSION_ID >= 80200
#  define ICE_ITEM(table, i) (&(table)->arPacked[i])
#else
#  define ICE_ITEM(table, i) (&(table)->arData[i].val)
#endif

/* Adds null as the last item of a packed array, and returns its zval. The item is counted in the
 * table at once, so PHP can free the array at any time. The table has room for all items. */
static zend_always_inline zval *
append_null(HashTable *table, uint32_t i)
{
    zval *item = ICE_ITEM(table, i);
#if PHP_VERSION_ID < 80200
    table->arData[i].h = i;
    table->arData[i].key = NULL;
#endif
    ZVAL_NULL(item);
    table->nNumUsed = table->nNumOfElements = i + 1;
    table->nNextFreeElement = (zend_long)i + 1;
    return item;
}

/* Begins an array. Pushes a frame, unless the array is complete. */
static bool
push_array(ice_builder *b, uint32_t node_index, zval *dest, uint8_t kind, zend_property_info *type)
{
    const icecore_node *node = &b->nodes[node_index];
    ice_build_frame *frame;
    HashTable *table;
    if (node->aux == 0) {
        ZVAL_EMPTY_ARRAY(dest);
        if (node->flags & ICECORE_FLAG_TARGET)
            ice_build_add_target(b, node_index, dest);
        return !type || ice_build_finish_typed(b, node_index, dest, type);
    }
    if (kind == ICE_BUILD_MAP) {
        const ice_shape_result built = ice_build_from_shape(b, node_index, dest, type);
        if (built != ICE_SHAPE_UNKNOWN && node->flags & ICECORE_FLAG_TARGET)
            ice_build_add_target(b, node_index, dest);
        if (built == ICE_SHAPE_OPENED)
            return true;
        if (built == ICE_SHAPE_BUILT)
            return !type || ice_build_finish_typed(b, node_index, dest, type);
    }
    ice_memory_check((size_t)node->aux * sizeof(Bucket));
    table = zend_new_array(node->aux);
    ZVAL_ARR(dest, table);
    if (kind == ICE_BUILD_LIST)
        zend_hash_real_init_packed(table);
    else
        zend_hash_real_init_mixed(table);
    if (node->flags & ICECORE_FLAG_TARGET)
        ice_build_add_target(b, node_index, dest);
    frame = ice_build_push_frame(b, kind, node_index, node_index + 1, dest, type);
    frame->table = table;
    return true;
}

/* Builds a value with children, or begins it and pushes a frame. */
static bool
build_container(ice_builder *b, uint32_t node_index, zval *dest, zend_property_info *type)
{
    if (ICE_IS_OUT_OF_MEMORY)
        return false;
    switch (b->nodes[node_index].kind) {
    case ICECORE_ARRAY: return push_array(b, node_index, dest, ICE_BUILD_LIST, type);
    case ICECORE_MAP: return push_array(b, node_index, dest, ICE_BUILD_MAP, type);
    case ICECORE_OBJECT: return ice_build_object(b, node_index, dest, type);
    case ICECORE_OPAQUE:
        if (!ice_build_opaque(b, node_index, dest))
            return false;
        if (b->nodes[node_index].flags & ICECORE_FLAG_TARGET)
            ice_build_add_target(b, node_index, dest);
        return !type || ice_build_finish_typed(b, node_index, dest, type);
    default: return false;
    }
}

/* Builds the value of a node into an array or the root. */
static zend_always_inline bool
build_value(ice_builder *b, uint32_t node_index, zval *dest)
{
    const icecore_node *node = &b->nodes[node_index];
    if (EXPECTED(node->kind < ICECORE_ARRAY)) {
        if (UNEXPECTED(!ice_build_leaf(b, node, dest)))
            return false;
        if (UNEXPECTED(node->flags & ICECORE_FLAG_TARGET))
            ice_build_add_target(b, node_index, dest);
        return true;
    }
    return build_container(b, node_index, dest, NULL);
}

/* Each of the build_ functions below builds values of a frame until it is complete, or until a
 * frame for one of its values was pushed. */

/* Builds the items of a list. */
static bool
build_list(ice_builder *b, ice_build_frame *frame)
{
    HashTable *table = frame->table;
    uint32_t node_index = frame->next_node, i = frame->built_count;
    const uint32_t end = frame->end, depth = b->ctx->build_depth;
    while (node_index < end) {
        const icecore_node *node = &b->nodes[node_index];
        zval *dest = append_null(table, i++);
        if (EXPECTED(node->kind < ICECORE_ARRAY)) {
            if (UNEXPECTED(!ice_build_leaf(b, node, dest))) {
                b->failed_node = node_index;
                return false;
            }
            if (UNEXPECTED(node->flags & ICECORE_FLAG_TARGET))
                ice_build_add_target(b, node_index, dest);
            node_index++;
            continue;
        }
        /* The position is stored in the frame first. build_container may push a frame, and this may
         * move the stack and make `frame` invalid. */
        b->failed_node = node_index;
        frame->next_node = ice_next(&b->ctx->view, node_index);
        frame->built_count = i;
        if (ICE_IS_OUT_OF_MEMORY)
            return false;
        if (node->kind == ICECORE_MAP && node->aux && !(node->flags & ICECORE_FLAG_TARGET)) {
            const ice_shape_result built = ice_build_from_shape(b, node_index, dest, NULL);
            if (built == ICE_SHAPE_OPENED)
                return true;
            if (EXPECTED(built == ICE_SHAPE_BUILT)) {
                node_index = frame->next_node;
                continue;
            }
        }
        if (!build_container(b, node_index, dest, NULL))
            return false;
        if (b->ctx->build_depth != depth)
            return true;
        node_index = frame->next_node;
    }
    frame->next_node = node_index;
    return true;
}

/* Builds the values of an array whose keys exist already. */
static bool
build_shape_values(ice_builder *b, ice_build_frame *frame)
{
    const uint32_t depth = b->ctx->build_depth;
    while (frame->next_node < frame->end) {
        const uint32_t node_index = frame->next_node;
        frame->next_node = ice_next(&b->ctx->view, node_index);
        b->failed_node = node_index;
        if (UNEXPECTED(!build_value(b, node_index, &frame->table->arData[frame->built_count++].val)))
            return false;
        if (b->ctx->build_depth != depth)
            return true;
    }
    return true;
}

/* ---- keys --------------------------------------------------------------- */

/* Makes a zval null and returns it. If the table has a value for this key already, the document
 * has the key twice, and the old value is freed when all values are built. */
static zend_always_inline zval *
emptied_place(ice_builder *b, zval *place)
{
    if (UNEXPECTED(Z_TYPE_INFO_P(place) != IS_NULL)) {
        ice_build_free_late(b, place);
        ZVAL_NULL(place);
    }
    return place;
}

/* In a table with fewer entries, a key is searched for by its address. */
#define ADDRESS_SEARCH_LIMIT 9

/* Returns the zval in the table for a key that has an id. Equal keys with ids are the same
 * string, so a comparison of addresses finds them. A key without an id may be an equal string at
 * another address, so a table with such keys is searched by PHP. PHP also enlarges full tables. */
static zend_always_inline zval *
place_of_key_with_id(ice_builder *b, HashTable *table, zend_string *key, bool has_keys_without_ids)
{
    const uint32_t used = table->nNumUsed;
    uint32_t i;
    if (UNEXPECTED(used >= ADDRESS_SEARCH_LIMIT) || UNEXPECTED(used >= table->nTableSize) ||
        UNEXPECTED(has_keys_without_ids))
        return emptied_place(b, zend_hash_lookup(table, key));
    for (i = 0; i < used; i++)
        if (UNEXPECTED(table->arData[i].key == key))
            return emptied_place(b, zend_hash_lookup(table, key));
    return _zend_hash_append(table, key, &EG(uninitialized_zval));
}

/* Returns the zval in the table for a string key. In an array, PHP makes an integer of a key
 * that is a decimal number, if `may_be_integer` is true. */
static zval *
place_of_string_key(ice_builder *b, HashTable *table, zend_string *key, bool may_be_integer)
{
    zend_ulong index;
    if (may_be_integer && ZEND_HANDLE_NUMERIC(key, index))
        return emptied_place(b, zend_hash_index_lookup(table, index));
    return emptied_place(b, zend_hash_lookup(table, key));
}

/* Returns the zval in the table for an integer key. The name of a property is a string. */
static zval *
place_of_integer_key(ice_builder *b, HashTable *table, zend_long number, bool is_array)
{
    zend_string *key;
    zval *place;
    if (is_array)
        return emptied_place(b, zend_hash_index_lookup(table, (zend_ulong)number));
    key = zend_long_to_str(number);
    place = emptied_place(b, zend_hash_lookup(table, key));
    zend_string_release(key);
    return place;
}

/* Returns the key of an entry as a string that the caller owns. If the key is an integer,
 * returns NULL, and `number` receives it. `*node_index` is the first node of the entry. If that
 * is a node for the key, `*node_index` is moved to the value after it. */
static zend_string *
read_key(ice_builder *b, uint32_t *node_index, zend_long *number)
{
    const icecore_node *node = &b->nodes[*node_index];
    const char *text;
    size_t len;
    void *key;
    if (node->key == ICECORE_IS_KEY) {
        ++*node_index;
        if (node->kind == ICECORE_INT) {
            *number = (zend_long)node->payload;
            return NULL;
        }
        text = ice_bytes_of(&b->ctx->view, node, &len);
        if (ICE_IS_OUT_OF_MEMORY)
            return ZSTR_EMPTY_ALLOC(); /* any string: the next container ends the call */
        ice_memory_check(len);
        return zend_string_init_existing_interned(text, len, 0);
    }
    key = ice_key_by_id(b->ctx, node->key);
    if (key != ICE_INTEGER_KEY)
        return zend_string_copy((zend_string *)key);
    *number = ice_key_number(b->ctx, node->key);
    return NULL;
}

/* Builds the entries of a map, or the array for a hook. */
static bool
build_map(ice_builder *b, ice_build_frame *frame)
{
    HashTable *table = frame->table;
    const uint32_t depth = b->ctx->build_depth;
    const bool is_for_hook = frame->kind == ICE_BUILD_UNSERIALIZE || frame->kind == ICE_BUILD_SET_STATE;
    const bool is_array = frame->kind == ICE_BUILD_MAP || is_for_hook;
    /* igbinary keeps a string as it is. */
    const bool may_be_integer = is_array && !b->settings->is_igbinary;
    while (frame->next_node < frame->end) {
        uint32_t node_index = frame->next_node;
        const icecore_node *node = &b->nodes[node_index];
        zval *dest;
        void *key;
        /* The array for a hook has names of properties as keys. Such a name may be a decimal
         * number, and then becomes an integer. In maps, the engine has done this already. */
        if (EXPECTED(node->key != ICECORE_IS_KEY) &&
            EXPECTED((key = ice_key_by_id(b->ctx, node->key)) != ICE_INTEGER_KEY) && EXPECTED(!is_for_hook))
            dest = place_of_key_with_id(b, table, (zend_string *)key, frame->has_keys_without_ids);
        else {
            /* From now on the table may have equal strings at different addresses. */
            zend_long number = 0;
            zend_string *text = read_key(b, &node_index, &number);
            frame->has_keys_without_ids = true;
            dest = text ? place_of_string_key(b, table, text, may_be_integer)
                        : place_of_integer_key(b, table, number, is_array);
            if (text)
                zend_string_release(text);
        }
        frame->next_node = ice_next(&b->ctx->view, node_index);
        b->failed_node = node_index;
        if (UNEXPECTED(!build_value(b, node_index, dest)))
            return false;
        if (b->ctx->build_depth != depth)
            return true;
    }
    return true;
}

/* ---- properties --------------------------------------------------------- */

/* Remembers the slot of a property for the next object of the class. Does nothing if the
 * property is not in a slot. */
static void
remember_property(ice_build_frame *frame, uint16_t key_id, zval *place, zend_property_info *type)
{
    ice_class *class = frame->class;
    const zend_object *object = frame->object;
    ice_property *property;
    /* The slots are an array in the object itself. Any other place is in a hash table. */
    if (place < object->properties_table ||
        place >= object->properties_table + object->ce->default_properties_count)
        return;
    if (class->property_count == class->property_capacity)
        class->properties =
            ice_stack_grow(class->properties, &class->property_capacity, sizeof *class->properties, 8);
    property = &class->properties[class->property_count++];
    property->key_id = key_id;
    property->offset = (uint32_t)((char *)place - (char *)object);
    property->type = type;
}

/* Returns the remembered property with this key, or NULL. */
static const ice_property *
find_property(const ice_class *class, uint16_t key_id)
{
    uint32_t i;
    for (i = 0; i < class->property_count; i++)
        if (class->properties[i].key_id == key_id)
            return &class->properties[i];
    return NULL;
}

/* Finds the property of an entry as PHP does, and returns the zval for its value; NULL if it
 * can't be set. `*node_index` is the first node of the entry, and is moved to its value. */
static zval *
look_up_property(ice_builder *b, ice_build_frame *frame, uint32_t *node_index, zend_property_info **type)
{
    const uint16_t id = b->nodes[*node_index].key;
    zend_long number = 0;
    zend_string *key = read_key(b, node_index, &number);
    zval *place;
    if (!key)
        key = zend_long_to_str(number);
    place = ice_build_property(b, frame, key, type);
    zend_string_release(key);
    /* The other formats of PHP read the same name in another way: igbinary does not look for other
     * visibilities. So such a property is not remembered. */
    if (place && frame->kind == ICE_BUILD_SLOTS && id != ICECORE_IS_KEY && !b->has_other_name &&
        !find_property(frame->class, id))
        remember_property(frame, id, place, *type);
    return place;
}

/* Returns true if a typed property accepts a value without any conversion or check of a class. */
static zend_always_inline bool
is_of_type(const zend_property_info *type, const zval *value)
{
    return ZEND_TYPE_CONTAINS_CODE(type->type, Z_TYPE_P(value));
}

/* Checks a typed property after a leaf was stored in it. */
static bool
finish_property(ice_builder *b, uint32_t node_index, zval *dest, zend_property_info *type)
{
    if (EXPECTED(is_of_type(type, dest)) && EXPECTED(!(b->nodes[node_index].flags & ICECORE_FLAG_TARGET)))
        return true;
    return ice_build_finish_typed(b, node_index, dest, type);
}

/* Builds the properties of an object in their slots or its hash table. */
static bool
build_properties(ice_builder *b, ice_build_frame *frame)
{
    const uint32_t depth = b->ctx->build_depth;
    while (frame->next_node < frame->end) {
        uint32_t node_index = frame->next_node;
        const icecore_node *node = &b->nodes[node_index];
        const ice_class *class = frame->class;
        const ice_property *property = &class->properties[frame->built_count];
        zend_property_info *type;
        zval *dest;
        /* The properties mostly have the order of the last object. So the remembered property at
         * this position is compared first, and the others are searched only if it differs. */
        if (UNEXPECTED(frame->built_count >= class->property_count) || UNEXPECTED(property->key_id != node->key))
            property = frame->kind == ICE_BUILD_SLOTS ? find_property(class, node->key) : NULL;
        if (EXPECTED(property != NULL)) {
            dest = (zval *)((char *)frame->object + property->offset);
            type = property->type;
            if (UNEXPECTED(Z_REFCOUNTED_P(dest)))
                ice_build_clear_slot(b, dest, type);
            ZVAL_NULL(dest);
        } else {
            b->failed_node = node_index;
            dest = look_up_property(b, frame, &node_index, &type);
            if (!dest)
                return false;
            node = &b->nodes[node_index];
        }
        frame->built_count++;
        frame->next_node = ice_next(&b->ctx->view, node_index);
        if (UNEXPECTED(node->kind >= ICECORE_ARRAY)) {
            b->failed_node = node_index;
            if (!build_container(b, node_index, dest, type))
                return false;
            if (b->ctx->build_depth != depth)
                return true;
            continue;
        }
        if (UNEXPECTED(!ice_build_leaf(b, node, dest))) {
            b->failed_node = node_index;
            return false;
        }
        if (UNEXPECTED(node->flags & ICECORE_FLAG_TARGET))
            ice_build_add_target(b, node_index, dest);
        if (type && UNEXPECTED(!finish_property(b, node_index, dest, type))) {
            b->failed_node = node_index;
            return false;
        }
    }
    return true;
}

/* ---- the loop ----------------------------------------------------------- */

/* Removes the innermost frame, which is complete. */
static bool
finish_container(ice_builder *b, uint32_t depth)
{
    const ice_build_frame *frame = &b->ctx->build_frames[depth - 1];
    if (frame->kind == ICE_BUILD_MAP)
        ice_build_remember_shape(b, frame);
    if (frame->class)
        ice_build_end_object(b, frame);
    b->ctx->build_depth--;
    if (UNEXPECTED(frame->type != NULL) && !ice_build_finish_typed(b, frame->node, frame->dest, frame->type)) {
        b->failed_node = frame->node;
        return false;
    }
    return true;
}

/* Builds the root, and continues the innermost frame until no frame is left. */
static bool
build_all(ice_builder *b, zval *root)
{
    ice_context *ctx = b->ctx;
    b->failed_node = ctx->view.root;
    if (!build_value(b, ctx->view.root, root))
        return false;
    while (ctx->build_depth) {
        const uint32_t depth = ctx->build_depth;
        ice_build_frame *frame = &ctx->build_frames[depth - 1];
        bool done;
        switch (frame->kind) {
        case ICE_BUILD_LIST: done = build_list(b, frame); break;
        case ICE_BUILD_SHAPE: done = build_shape_values(b, frame); break;
        case ICE_BUILD_SLOTS:
        case ICE_BUILD_TABLE: done = build_properties(b, frame); break;
        default: done = build_map(b, frame);
        }
        if (UNEXPECTED(!done) || ICE_IS_OUT_OF_MEMORY)
            return false;
        if (ctx->build_depth == depth && ctx->build_frames[depth - 1].next_node >= ctx->build_frames[depth - 1].end &&
            !finish_container(b, depth))
            return false;
    }
    return true;
}

/* Removes all frames after a failure. As in PHP, the destructor of an object is not called if
 * its hook was not called. An array for a hook is not part of the root, so it is freed here. */
static void
abandon_frames(ice_context *ctx)
{
    uint32_t i;
    for (i = 0; i < ctx->delayed_action_count; i++)
        if (!Z_ISUNDEF(ctx->delayed_actions[i].object))
            GC_ADD_FLAGS(Z_OBJ(ctx->delayed_actions[i].object), IS_OBJ_DESTRUCTOR_CALLED);
    while (ctx->build_depth) {
        ice_build_frame *frame = &ctx->build_frames[--ctx->build_depth];
        if (frame->object && (frame->kind == ICE_BUILD_UNSERIALIZE || frame->class->has_wakeup))
            GC_ADD_FLAGS(frame->object, IS_OBJ_DESTRUCTOR_CALLED);
        if (frame->kind == ICE_BUILD_UNSERIALIZE || frame->kind == ICE_BUILD_SET_STATE)
            zend_array_destroy(frame->table);
    }
}

void
ice_build_free(ice_context *ctx, zval *root)
{
    uint32_t i;
    zval_ptr_dtor(root);
    ZVAL_UNDEF(root);
    for (i = 0; i < ctx->delayed_action_count; i++) {
        zval_ptr_dtor(&ctx->delayed_actions[i].object);
        zval_ptr_dtor(&ctx->delayed_actions[i].data);
    }
    ctx->delayed_action_count = 0;
}

bool
ice_build(ice_context *ctx, const ice_read_settings *settings, zval *root)
{
    ice_builder b = { .ctx = ctx, .settings = settings, .nodes = ctx->view.nodes };
    ice_keys_sync(ctx, ctx->view.keys.generation);
    if (UNEXPECTED(ctx->shape_generation != ctx->view.keys.generation)) {
        memset(ctx->shapes, 0, sizeof ctx->shapes);
        ctx->shape_generation = ctx->view.keys.generation;
    }
    ctx->target_count = ctx->delayed_action_count = ctx->build_depth = 0;
    ctx->failed_after_node = ctx->has_warned = false;
    ZVAL_NULL(root);
    if (UNEXPECTED(!build_all(&b, root))) {
        ctx->failed_node = b.failed_node;
        ice_build_warn_wide(&b, b.failed_node, ctx->failed_after_node);
        abandon_frames(ctx);
        return false;
    }
    ice_build_warn_wide(&b, ctx->view.node_count - 1, true);
    if (ctx->delayed_action_count)
        ice_hooks_run(ctx);
    /* The value may contain a cycle. PHP's collector finds a cycle only from a value that was
     * passed to it. */
    if (Z_REFCOUNTED_P(root))
        gc_check_possible_root(Z_COUNTED_P(root));
    return true;
}
