#include "core/build_leaf.h"
#include "core/hooks.h"

/* ---- arrays ------------------------------------------------------------- */

#if PHP_VERSION_ID >= 80200
#  define ICE_ITEM(table, i) (&(table)->arPacked[i])
#else
#  define ICE_ITEM(table, i) (&(table)->arData[i].val)
#endif

/* Adds a place after the last item; it is null and counted at once. */
static zend_always_inline zval *
next_item(HashTable *table, uint32_t i)
{
    zval *place = ICE_ITEM(table, i);
#if PHP_VERSION_ID < 80200
    table->arData[i].h = i;
    table->arData[i].key = NULL;
#endif
    ZVAL_NULL(place);
    table->nNumUsed = table->nNumOfElements = i + 1;
    table->nNextFreeElement = (zend_long)i + 1;
    return place;
}

static bool
push_array(ice_builder *b, uint32_t at, zval *to, uint8_t kind, zend_property_info *type)
{
    const icecore_node *node = &b->nodes[at];
    ice_build_frame *frame;
    HashTable *table;
    if (node->flags & ICECORE_FLAG_TARGET)
        ice_build_target(b, at, to);
    if (node->aux == 0) {
        ZVAL_EMPTY_ARRAY(to);
        return !type || ice_build_end_typed(b, at, to, type);
    }
    if (kind == B_MAP)
        switch (ice_build_row(b, at, to, type)) {
        case ICE_ROW_BUILT: return !type || ice_build_end_typed(b, at, to, type);
        case ICE_ROW_OPEN: return true;
        default: break;
        }
    ice_memory_need((size_t)node->aux * sizeof(Bucket));
    table = zend_new_array(node->aux);
    ZVAL_ARR(to, table);
    if (kind == B_LIST)
        zend_hash_real_init_packed(table);
    else
        zend_hash_real_init_mixed(table);
    frame = ice_build_push(b, kind, at, at + 1, to, type);
    frame->table = table;
    return true;
}

/* Builds a value with children, or a leaf of a kind that has no fast path. */
static bool
open_value(ice_builder *b, uint32_t at, zval *to, zend_property_info *type)
{
    if (ICE_IS_OUT_OF_MEMORY)
        return false;
    switch (b->nodes[at].kind) {
    case ICECORE_ARRAY: return push_array(b, at, to, B_LIST, type);
    case ICECORE_MAP: return push_array(b, at, to, B_MAP, type);
    case ICECORE_OBJECT: return ice_build_object(b, at, to, type);
    case ICECORE_OPAQUE:
        if (b->nodes[at].flags & ICECORE_FLAG_TARGET)
            ice_build_target(b, at, to);
        return ice_build_opaque(b, at, to) && (!type || ice_build_end_typed(b, at, to, type));
    default: return false;
    }
}

/* Builds the value of a node at a place of an array. */
static zend_always_inline bool
put(ice_builder *b, uint32_t at, zval *to)
{
    const icecore_node *node = &b->nodes[at];
    if (EXPECTED(node->kind < ICECORE_ARRAY)) {
        if (UNEXPECTED(node->flags & ICECORE_FLAG_TARGET))
            ice_build_target(b, at, to);
        return ice_build_leaf(b, node, to);
    }
    return open_value(b, at, to, NULL);
}

static bool
build_list(ice_builder *b, ice_build_frame *frame)
{
    HashTable *table = frame->table;
    uint32_t at = frame->at, i = frame->index;
    const uint32_t end = frame->end, depth = b->ctx->build_depth;
    while (at < end) {
        const icecore_node *node = &b->nodes[at];
        zval *to = next_item(table, i++);
        if (EXPECTED(node->kind < ICECORE_ARRAY)) {
            if (UNEXPECTED(node->flags & ICECORE_FLAG_TARGET))
                ice_build_target(b, at, to);
            if (UNEXPECTED(!ice_build_leaf(b, node, to))) {
                b->failed = at;
                return false;
            }
            at++;
            continue;
        }
        b->failed = at;
        frame->at = ice_next(&b->ctx->view, at);
        frame->index = i;
        if (ICE_IS_OUT_OF_MEMORY)
            return false;
        if (node->kind == ICECORE_MAP && node->aux && !(node->flags & ICECORE_FLAG_TARGET)) {
            const ice_row_built built = ice_build_row(b, at, to, NULL);
            if (built == ICE_ROW_OPEN)
                return true;
            if (EXPECTED(built == ICE_ROW_BUILT)) {
                at = frame->at;
                continue;
            }
        }
        if (!open_value(b, at, to, NULL))
            return false;
        if (b->ctx->build_depth != depth)
            return true;
        at = frame->at;
    }
    frame->at = at;
    return true;
}

/* Builds the values of an array whose keys exist already. */
static bool
build_values(ice_builder *b, ice_build_frame *frame)
{
    const uint32_t depth = b->ctx->build_depth;
    while (frame->at < frame->end) {
        const uint32_t at = frame->at;
        frame->at = ice_next(&b->ctx->view, at);
        b->failed = at;
        if (UNEXPECTED(!put(b, at, &frame->table->arData[frame->index++].val)))
            return false;
        if (b->ctx->build_depth != depth)
            return true;
    }
    return true;
}

/* ---- keys --------------------------------------------------------------- */

/* Returns the place of a key in a table; a value that is already there is freed later. */
static zend_always_inline zval *
place_of(ice_builder *b, zval *place)
{
    if (UNEXPECTED(Z_TYPE_INFO_P(place) != IS_NULL)) {
        ice_build_free_late(b, place);
        ZVAL_NULL(place);
    }
    return place;
}

/* In tables with fewer entries a key is searched by address. */
#define FEW 9

/* Returns the place of a key with an id. Equal keys with ids are the same string, unless
 * a key of the table came as a node. */
static zend_always_inline zval *
known_place(ice_builder *b, HashTable *table, zend_string *key, bool has_nodes)
{
    const uint32_t used = table->nNumUsed;
    uint32_t i;
    if (UNEXPECTED(used >= FEW) || UNEXPECTED(used >= table->nTableSize) || UNEXPECTED(has_nodes))
        return place_of(b, zend_hash_lookup(table, key));
    for (i = 0; i < used; i++)
        if (UNEXPECTED(table->arData[i].key == key))
            return place_of(b, zend_hash_lookup(table, key));
    return _zend_hash_append(table, key, &EG(uninitialized_zval));
}

static zval *
string_place(ice_builder *b, HashTable *table, zend_string *key, bool is_array)
{
    zend_ulong index;
    if (is_array && ZEND_HANDLE_NUMERIC(key, index))
        return place_of(b, zend_hash_index_lookup(table, index));
    return place_of(b, zend_hash_lookup(table, key));
}

static zval *
integer_place(ice_builder *b, HashTable *table, zend_long number, bool is_array)
{
    zend_string *key;
    zval *place;
    if (is_array)
        return place_of(b, zend_hash_index_lookup(table, (zend_ulong)number));
    key = zend_long_to_str(number);
    place = place_of(b, zend_hash_lookup(table, key));
    zend_string_release(key);
    return place;
}

/* Returns the key of the value at `at`, as a string that the caller owns. A key with a
 * node of its own precedes the value; `at` is moved to the value. NULL: an integer. */
static zend_string *
key_at(ice_builder *b, uint32_t *at, zend_long *number)
{
    const icecore_node *node = &b->nodes[*at];
    const char *text;
    size_t len;
    void *key;
    if (node->key == ICECORE_IS_KEY) {
        ++*at;
        if (node->kind == ICECORE_INT) {
            *number = (zend_long)node->payload;
            return NULL;
        }
        text = ice_bytes_of(&b->ctx->view, node, &len);
        if (ICE_IS_OUT_OF_MEMORY)
            return ZSTR_EMPTY_ALLOC(); /* the next container ends the call */
        ice_memory_need(len);
        return zend_string_init_existing_interned(text, len, 0);
    }
    key = ice_key(b->ctx, node->key);
    if (key != ICE_INTEGER)
        return zend_string_copy((zend_string *)key);
    *number = ice_integer_key(b->ctx, node->key);
    return NULL;
}

static bool
build_map(ice_builder *b, ice_build_frame *frame)
{
    HashTable *table = frame->table;
    const uint32_t depth = b->ctx->build_depth;
    const bool is_array = frame->kind == B_MAP || frame->kind == B_ARRAY || frame->kind == B_STATE;
    while (frame->at < frame->end) {
        uint32_t at = frame->at;
        const icecore_node *node = &b->nodes[at];
        zval *to;
        void *key;
        if (EXPECTED(node->key != ICECORE_IS_KEY) && EXPECTED((key = ice_key(b->ctx, node->key)) != ICE_INTEGER) &&
            EXPECTED(frame->kind != B_ARRAY && frame->kind != B_STATE))
            to = known_place(b, table, (zend_string *)key, frame->index != 0);
        else {
            zend_long number = 0;
            frame->index = 1;
            zend_string *text = key_at(b, &at, &number);
            to = text ? string_place(b, table, text, is_array) : integer_place(b, table, number, is_array);
            if (text)
                zend_string_release(text);
        }
        frame->at = ice_next(&b->ctx->view, at);
        b->failed = at;
        if (UNEXPECTED(!put(b, at, to)))
            return false;
        if (b->ctx->build_depth != depth)
            return true;
    }
    return true;
}

/* ---- properties --------------------------------------------------------- */

/* Remembers where a property was found, for the next object of the class. */
static void
learn(ice_build_frame *frame, uint16_t key, zval *place, zend_property_info *type)
{
    ice_class *class = frame->class;
    const zend_object *object = frame->object;
    ice_property *property;
    if (place < object->properties_table ||
        place >= object->properties_table + object->ce->default_properties_count)
        return;
    if (class->property_count == class->property_room)
        class->properties = ice_stack_grow(class->properties, &class->property_room, sizeof *class->properties, 8);
    property = &class->properties[class->property_count++];
    property->key = key;
    property->offset = (uint32_t)((char *)place - (char *)object);
    property->type = type;
}

static const ice_property *
find_property(const ice_class *class, uint16_t key)
{
    uint32_t i;
    for (i = 0; i < class->property_count; i++)
        if (class->properties[i].key == key)
            return &class->properties[i];
    return NULL;
}

/* Returns the place of the property at `*at`, found as PHP does; moves `*at` to its
 * value. */
static zval *
slow_property(ice_builder *b, ice_build_frame *frame, uint32_t *at, zend_property_info **type)
{
    const uint16_t id = b->nodes[*at].key;
    zend_long number = 0;
    zend_string *key = key_at(b, at, &number);
    zval *place;
    if (!key)
        key = zend_long_to_str(number);
    place = ice_build_property(b, frame, key, type);
    zend_string_release(key);
    if (place && frame->kind == B_SLOTS && id != ICECORE_IS_KEY && !find_property(frame->class, id))
        learn(frame, id, place, *type);
    return place;
}

static zend_always_inline bool
is_of_type(const zend_property_info *type, const zval *value)
{
    return ZEND_TYPE_CONTAINS_CODE(type->type, Z_TYPE_P(value));
}

/* Ends a property whose value is a leaf. */
static bool
end_property(ice_builder *b, uint32_t at, zval *to, zend_property_info *type)
{
    if (EXPECTED(is_of_type(type, to)) && EXPECTED(!(b->nodes[at].flags & ICECORE_FLAG_TARGET)))
        return true;
    return ice_build_end_typed(b, at, to, type);
}

static bool
build_properties(ice_builder *b, ice_build_frame *frame)
{
    const uint32_t depth = b->ctx->build_depth;
    while (frame->at < frame->end) {
        uint32_t at = frame->at;
        const icecore_node *node = &b->nodes[at];
        const ice_class *class = frame->class;
        const ice_property *property = &class->properties[frame->index];
        zend_property_info *type;
        zval *to;
        if (UNEXPECTED(frame->index >= class->property_count) || UNEXPECTED(property->key != node->key))
            property = frame->kind == B_SLOTS ? find_property(class, node->key) : NULL;
        if (EXPECTED(property != NULL)) {
            to = (zval *)((char *)frame->object + property->offset);
            type = property->type;
            if (UNEXPECTED(Z_REFCOUNTED_P(to)))
                ice_build_clear_slot(b, to, type);
            ZVAL_NULL(to);
        } else {
            b->failed = at;
            to = slow_property(b, frame, &at, &type);
            if (!to)
                return false;
            node = &b->nodes[at];
        }
        frame->index++;
        frame->at = ice_next(&b->ctx->view, at);
        if (UNEXPECTED(node->kind >= ICECORE_ARRAY)) {
            b->failed = at;
            if (!open_value(b, at, to, type))
                return false;
            if (b->ctx->build_depth != depth)
                return true;
            continue;
        }
        if (UNEXPECTED(node->flags & ICECORE_FLAG_TARGET))
            ice_build_target(b, at, to);
        if (UNEXPECTED(!ice_build_leaf(b, node, to)) || (type && UNEXPECTED(!end_property(b, at, to, type)))) {
            b->failed = at;
            return false;
        }
    }
    return true;
}

/* ---- the loop ----------------------------------------------------------- */

/* Closes the innermost container, which is complete. */
static bool
close_value(ice_builder *b, uint32_t depth)
{
    const ice_build_frame *frame = &b->ctx->building[depth - 1];
    if (frame->kind == B_MAP)
        ice_build_learn_row(b, frame);
    if (frame->class)
        ice_build_end_object(b, frame);
    b->ctx->build_depth--;
    if (UNEXPECTED(frame->type != NULL) && !ice_build_end_typed(b, frame->node, frame->place, frame->type)) {
        b->failed = frame->node;
        return false;
    }
    return true;
}

static bool
build_all(ice_builder *b, zval *root)
{
    ice_context *ctx = b->ctx;
    b->failed = ctx->view.root;
    if (!put(b, ctx->view.root, root))
        return false;
    while (ctx->build_depth) {
        const uint32_t depth = ctx->build_depth;
        ice_build_frame *frame = &ctx->building[depth - 1];
        bool done;
        switch (frame->kind) {
        case B_LIST: done = build_list(b, frame); break;
        case B_ROW: done = build_values(b, frame); break;
        case B_SLOTS:
        case B_TABLE: done = build_properties(b, frame); break;
        default: done = build_map(b, frame);
        }
        if (UNEXPECTED(!done) || ICE_IS_OUT_OF_MEMORY)
            return false;
        if (ctx->build_depth == depth && ctx->building[depth - 1].at >= ctx->building[depth - 1].end &&
            !close_value(b, depth))
            return false;
    }
    return true;
}

/* Abandons the open containers. As in PHP, an object with a hook that was not called is
 * not destructed by the program's code; others are. */
static void
unwind(ice_context *ctx)
{
    uint32_t i;
    for (i = 0; i < ctx->delayed_count; i++)
        if (!Z_ISUNDEF(ctx->delayed[i].object))
            GC_ADD_FLAGS(Z_OBJ(ctx->delayed[i].object), IS_OBJ_DESTRUCTOR_CALLED);
    while (ctx->build_depth) {
        ice_build_frame *frame = &ctx->building[--ctx->build_depth];
        if (frame->object && (frame->kind == B_ARRAY || frame->class->has_wakeup))
            GC_ADD_FLAGS(frame->object, IS_OBJ_DESTRUCTOR_CALLED);
        if (frame->kind == B_ARRAY || frame->kind == B_STATE)
            zend_array_destroy(frame->table);
    }
}

void
ice_build_free(ice_context *ctx, zval *root)
{
    uint32_t i;
    zval_ptr_dtor(root);
    ZVAL_UNDEF(root);
    for (i = 0; i < ctx->delayed_count; i++) {
        zval_ptr_dtor(&ctx->delayed[i].object);
        zval_ptr_dtor(&ctx->delayed[i].data);
    }
    ctx->delayed_count = 0;
}

bool
ice_build(ice_context *ctx, const ice_read_settings *settings, zval *root)
{
    ice_builder b = { ctx, settings, ctx->view.nodes, 0, 0, 0, NULL };
    ice_keys_of(ctx, ctx->view.keys.generation);
    if (UNEXPECTED(ctx->row_generation != ctx->view.keys.generation)) {
        memset(ctx->rows, 0, sizeof ctx->rows);
        ctx->row_generation = ctx->view.keys.generation;
    }
    ctx->target_count = ctx->delayed_count = ctx->build_depth = 0;
    ctx->failed_behind = false;
    ZVAL_NULL(root);
    if (UNEXPECTED(!build_all(&b, root))) {
        ctx->failed = b.failed;
        ice_build_say(&b, b.failed, ctx->failed_behind);
        unwind(ctx);
        return false;
    }
    ice_build_say(&b, ctx->view.node_count - 1, true);
    if (ctx->delayed_count)
        ice_hooks_run(ctx);
    if (Z_REFCOUNTED_P(root))
        gc_check_possible_root(Z_COUNTED_P(root));
    return true;
}
