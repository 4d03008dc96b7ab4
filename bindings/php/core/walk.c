#include "core/walk.h"

ice_walk_frame *
ice_walk_push(ice_walker *w, uint8_t kind, HashTable *table, zend_object *object, uint32_t wraps)
{
    ice_context *ctx = w->ctx;
    ice_walk_frame *frame;
    if (UNEXPECTED(ctx->walk_depth == ctx->walk_room)) {
        const uint32_t room = ctx->walk_room ? ctx->walk_room * 2 : 64;
        ctx->walking = ice_host_resize(ctx->walking, room * sizeof *ctx->walking);
        ctx->walk_room = room;
    }
    frame = &ctx->walking[ctx->walk_depth++];
    frame->kind = kind;
    frame->is_shared = frame->is_protected = frame->has_member = false;
    frame->wraps = wraps;
    frame->node = (uint32_t)w->tape->node_count - 1;
    frame->at = frame->count = 0;
    frame->table = table;
    frame->object = object;
    return frame;
}

static void
release(ice_walk_frame *frame)
{
    if (frame->is_protected)
        GC_TRY_UNPROTECT_RECURSION(frame->kind == W_LIST || frame->kind == W_MAP || !frame->object
                                       ? (zend_refcounted *)frame->table
                                       : (zend_refcounted *)frame->object);
    if (frame->table)
        zend_array_release(frame->table);
    if (frame->object)
        OBJ_RELEASE(frame->object);
}

/* ---- leaves ------------------------------------------------------------- */

static zend_always_inline bool
is_leaf(const zval *value)
{
    return Z_TYPE_P(value) <= IS_STRING;
}

static zend_always_inline void
push_leaf(ice_walker *w, const zval *value, uint16_t key)
{
    uint64_t bits;
    switch (Z_TYPE_P(value)) {
    case IS_STRING:
        ice_push_string(w->engine, w->tape, ICECORE_BYTES, 0, key, Z_STRVAL_P(value), Z_STRLEN_P(value));
        return;
    case IS_LONG: ice_push(w->engine, w->tape, ICECORE_INT, 0, key, 0, (uint64_t)Z_LVAL_P(value)); return;
    case IS_DOUBLE:
        memcpy(&bits, &Z_DVAL_P(value), sizeof bits);
        ice_push(w->engine, w->tape, ICECORE_FLOAT, 0, key, 0, bits);
        return;
    case IS_TRUE: ice_push(w->engine, w->tape, ICECORE_BOOL, 0, key, 0, 1); return;
    case IS_FALSE: ice_push(w->engine, w->tape, ICECORE_BOOL, 0, key, 0, 0); return;
    default: ice_push(w->engine, w->tape, ICECORE_NULL, 0, key, 0, 0);
    }
}

/* ---- what is met again -------------------------------------------------- */

/* Pushes a link or an alias, if the value at this address was met; notes it otherwise. */
static bool
push_again(ice_walker *w, const void *address, zval *held, uint8_t kind, uint16_t key)
{
    const ice_slot *slot = ice_map_find(&w->ctx->seen, address);
    if (slot) {
        ice_push_again(w->engine, w->tape, kind, 0, key, slot->value);
        return true;
    }
    ice_map_add(&w->ctx->seen, address, (uint32_t)w->tape->node_count);
    ice_hold(w->ctx, held);
    return false;
}

static zend_always_inline bool
is_only_here(const zend_object *object, bool is_shared)
{
    return !is_shared && GC_REFCOUNT(object) == 1 &&
           (object->properties == NULL || GC_REFCOUNT(object->properties) == 1);
}

/* ---- arrays ------------------------------------------------------------- */

static bool
is_list(const HashTable *table)
{
    zend_string *key;
    zend_ulong number, next = 0;
    if (HT_FLAGS(table) & HASH_FLAG_PACKED)
        return HT_IS_WITHOUT_HOLES(table);
    ZEND_HASH_FOREACH_KEY((HashTable *)table, number, key) {
        if (key || number != next++)
            return false;
    } ZEND_HASH_FOREACH_END();
    return true;
}

/* An array of leaves goes without a frame. */
static bool
push_leaves(ice_walker *w, HashTable *table)
{
    const uint32_t node = (uint32_t)w->tape->node_count - 1, count = zend_hash_num_elements(table);
    uint32_t i;
    zval *value;
    if (count > 1024)
        return false;
    ZEND_HASH_FOREACH_VAL(table, value) {
        if (!is_leaf(value)) {
            w->tape->node_count = node + 1;
            return false;
        }
        push_leaf(w, value, 0);
    } ZEND_HASH_FOREACH_END();
    i = count;
    ice_end_node(w->tape, node, i, 0);
    return true;
}

static bool
push_array(ice_walker *w, HashTable *table, uint16_t key, bool is_shared, bool protects)
{
    const bool lists = is_list(table);
    const uint32_t count = zend_hash_num_elements(table);
    ice_walk_frame *frame;
    ice_push(w->engine, w->tape, lists ? ICECORE_ARRAY : ICECORE_MAP, 0, key, count, 0);
    if (count == 0 || (lists && push_leaves(w, table))) {
        if (count == 0)
            ice_end_node(w->tape, (uint32_t)w->tape->node_count - 1, 0, 0);
        return true;
    }
    frame = ice_walk_push(w, lists ? W_LIST : W_MAP, table, NULL, 0);
    frame->is_shared = is_shared;
    GC_TRY_ADDREF(table);
    if (protects && !(GC_FLAGS(table) & GC_IMMUTABLE)) {
        GC_PROTECT_RECURSION(table);
        frame->is_protected = true;
    }
    return true;
}

/* An array in an array: one that holds itself is null, as in PHP. */
static bool
push_inner_array(ice_walker *w, HashTable *table, uint16_t key, const ice_walk_frame *outer)
{
    const bool in_array = outer->kind == W_LIST || outer->kind == W_MAP;
    const bool nests = in_array || outer->kind == W_TABLE;
    if (!nests)
        return push_array(w, table, key, outer->is_shared || GC_REFCOUNT(table) > 1, false);
    if (UNEXPECTED(GC_IS_RECURSIVE(table)) || (in_array && table == outer->table)) {
        ice_push(w->engine, w->tape, ICECORE_NULL, 0, key, 0, 0);
        return true;
    }
    return push_array(w, table, key, outer->is_shared || GC_REFCOUNT(table) > 1, true);
}

/* ---- values ------------------------------------------------------------- */

/* A value that is no leaf. */
static bool
push_value(ice_walker *w, zval *value, uint16_t key, const ice_walk_frame *outer)
{
    if (Z_ISREF_P(value)) {
        zval *inner = Z_REFVAL_P(value);
        if (Z_REFCOUNT_P(value) > 1) {
            const void *address = Z_TYPE_P(inner) == IS_OBJECT ? (void *)Z_OBJ_P(inner) : (void *)Z_REF_P(value);
            if (push_again(w, address, value, ICECORE_ALIAS, key))
                return true;
            /* What it refers to was noted with it. */
            if (Z_TYPE_P(inner) == IS_OBJECT)
                return ice_walk_object(w, Z_OBJ_P(inner), key);
            if (Z_TYPE_P(inner) == IS_ARRAY)
                return push_array(w, Z_ARRVAL_P(inner), key,
                                  (outer && outer->is_shared) || GC_REFCOUNT(Z_ARRVAL_P(inner)) > 1, false);
        }
        value = inner;
        if (is_leaf(value)) {
            push_leaf(w, value, key);
            return true;
        }
    }
    switch (Z_TYPE_P(value)) {
    case IS_ARRAY:
        if (outer)
            return push_inner_array(w, Z_ARRVAL_P(value), key, outer);
        return push_array(w, Z_ARRVAL_P(value), key, false, false);
    case IS_OBJECT:
        if (!is_only_here(Z_OBJ_P(value), outer && outer->is_shared) &&
            push_again(w, Z_OBJ_P(value), value, ICECORE_LINK, key))
            return true;
        return ice_walk_object(w, Z_OBJ_P(value), key);
    default: ice_push(w->engine, w->tape, ICECORE_INT, 0, key, 0, 0); return true;
    }
}

/* ---- keys --------------------------------------------------------------- */

/* Pushes the key of an entry, if it needs a node; what the value's node has as its key. */
static zend_always_inline uint16_t
push_key(ice_walker *w, zend_string *key, zend_ulong number, bool may_have_id)
{
    uint16_t id;
    if (EXPECTED(key != NULL)) {
        if (EXPECTED(may_have_id)) {
            if (EXPECTED(ice_keys_near(&w->ctx->keys, key, &id)) || (id = ice_new_key_id(w->ctx, key)))
                return id;
        }
        ice_push_string(w->engine, w->tape, ICECORE_BYTES, 0, ICECORE_IS_KEY, ZSTR_VAL(key), ZSTR_LEN(key));
    } else
        ice_push(w->engine, w->tape, ICECORE_INT, 0, ICECORE_IS_KEY, 0, (uint64_t)number);
    return ICECORE_KEY_NODE;
}

/* ---- the loop ----------------------------------------------------------- */

static bool
end_frame(ice_walker *w, ice_walk_frame *frame)
{
    ice_walk_frame ended = *frame;
    ice_end_node(w->tape, frame->node, frame->count, frame->wraps);
    w->ctx->walk_depth--;
    release(&ended);
    return true;
}

static bool
walk_list(ice_walker *w, ice_walk_frame *frame)
{
    const HashTable *table = frame->table;
    while (frame->at < table->nNumUsed) {
#if PHP_VERSION_ID >= 80200
        zval *value = HT_FLAGS(table) & HASH_FLAG_PACKED ? &table->arPacked[frame->at] : &table->arData[frame->at].val;
#else
        zval *value = &table->arData[frame->at].val;
#endif
        frame->at++;
        if (UNEXPECTED(Z_TYPE_P(value) == IS_UNDEF))
            continue;
        frame->count++;
        if (EXPECTED(is_leaf(value)))
            push_leaf(w, value, 0);
        else
            return push_value(w, value, 0, frame);
    }
    return end_frame(w, frame);
}

/* The entry at `at`, whose place is moved behind it. NULL: there is none. */
static zend_always_inline zval *
next_entry(ice_walk_frame *frame, zend_string **key, zend_ulong *number)
{
    const HashTable *table = frame->table;
    while (frame->at < table->nNumUsed) {
        zval *value;
#if PHP_VERSION_ID >= 80200
        if (HT_FLAGS(table) & HASH_FLAG_PACKED) {
            value = &table->arPacked[frame->at];
            *key = NULL;
            *number = frame->at++;
        } else
#endif
        {
            Bucket *bucket = &table->arData[frame->at++];
            value = &bucket->val;
            *key = bucket->key;
            *number = bucket->h;
        }
        if (Z_TYPE_P(value) == IS_INDIRECT)
            value = Z_INDIRECT_P(value);
        if (EXPECTED(Z_TYPE_P(value) != IS_UNDEF))
            return value;
    }
    return NULL;
}

static bool
walk_table(ice_walker *w, ice_walk_frame *frame)
{
    const bool may_have_ids = zend_hash_num_elements(frame->table) <= ICECORE_MOST_IDS;
    zend_string *key;
    zend_ulong number;
    zval *value;
    while ((value = next_entry(frame, &key, &number))) {
        uint16_t id;
        if (UNEXPECTED(frame->has_member) && key && zend_string_equals_literal(key, "__PHP_Incomplete_Class_Name")) {
            frame->has_member = false;
            continue;
        }
        if (UNEXPECTED(!key) && frame->kind == W_VARIABLES)
            continue;
        id = push_key(w, key, number, may_have_ids);
        frame->count++;
        if (EXPECTED(is_leaf(value)))
            push_leaf(w, value, id);
        else
            return push_value(w, value, id, frame);
    }
    return end_frame(w, frame);
}

static bool
walk_slots(ice_walker *w, ice_walk_frame *frame)
{
    zend_object *object = frame->object;
    const zend_class_entry *ce = object->ce;
    while (frame->at < (uint32_t)ce->default_properties_count) {
        const zend_property_info *info = ce->properties_info_table[frame->at++];
        zval *value;
        uint16_t id;
        if (UNEXPECTED(!info))
            continue;
        value = OBJ_PROP(object, info->offset);
        if (UNEXPECTED(Z_TYPE_P(value) == IS_UNDEF))
            continue;
        id = push_key(w, info->name, 0, ce->default_properties_count <= ICECORE_MOST_IDS);
        frame->count++;
        if (EXPECTED(is_leaf(value)))
            push_leaf(w, value, id);
        else
            return push_value(w, value, id, frame);
    }
    return end_frame(w, frame);
}

/* The variables of a session: a map, whatever their names. */
static void
push_variables(ice_walker *w, HashTable *table)
{
    ice_push(w->engine, w->tape, ICECORE_MAP, 0, 0, 0, 0);
    GC_TRY_ADDREF(table);
    ice_walk_push(w, W_VARIABLES, table, NULL, 0);
}

static bool
walk_all(ice_walker *w, zval *root)
{
    ice_context *ctx = w->ctx;
    if (w->purpose == ICE_FOR_SESSION)
        push_variables(w, Z_ARRVAL_P(root));
    else if (is_leaf(root))
        push_leaf(w, root, 0);
    else if (!push_value(w, root, 0, NULL))
        return false;
    while (ctx->walk_depth) {
        ice_walk_frame *frame = &ctx->walking[ctx->walk_depth - 1];
        bool goes_on;
        switch (frame->kind) {
        case W_LIST: goes_on = walk_list(w, frame); break;
        case W_SLOTS: goes_on = walk_slots(w, frame); break;
        default: goes_on = walk_table(w, frame);
        }
        if (UNEXPECTED(!goes_on))
            return false;
    }
    return true;
}

ice_walked
ice_walk(ice_context *ctx, zval *value, uint8_t purpose, const icecore_stage *stage)
{
    ice_walker w = { ctx, ctx->warm.engine, &ctx->tape, stage, purpose, false, ICE_WALKED };
    ctx->walk_depth = ctx->held_count = 0;
    ice_tape_begin(w.engine, w.tape);
    ctx->tape.has_own_names = 1;
    ice_keys_of(ctx, ctx->tape.key_generation);
    if (UNEXPECTED(ctx->ids_generation != ctx->tape.class_generation)) {
        ice_map_clear(&ctx->class_ids);
        ctx->ids_generation = ctx->tape.class_generation;
    }
    if (EXPECTED(walk_all(&w, value)))
        return ICE_WALKED;
    while (ctx->walk_depth) {
        ice_walk_frame open = ctx->walking[--ctx->walk_depth];
        release(&open);
    }
    return w.stopped;
}
