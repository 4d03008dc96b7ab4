#include "core/walk_leaf.h"

/* ---- what is met again -------------------------------------------------- */

/* Pushes a link or an alias, if the value at this address was met; notes it otherwise. */
static bool
push_again(ice_walker *w, const void *address, zval *held, uint8_t kind, uint16_t key)
{
    const ice_slot *slot = ice_map_find(&w->ctx->seen, address);
    if (slot) {
        ice_push(w->engine, w->tape, kind, 0, key, 0, slot->value);
        return true;
    }
    ice_map_add(&w->ctx->seen, address, ice_walk_next(w));
    ice_hold(w->ctx, held);
    return false;
}

/* Marks the node at `at`, which a link may name. */
static bool
mark(ice_walker *w, size_t at, bool is_pushed)
{
    if (is_pushed)
        w->tape->nodes[at].flags |= ICECORE_FLAG_TARGET;
    return is_pushed;
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

/* The entries of a map up to the first value that is no leaf. */
static bool
push_entries(ice_walker *w, const HashTable *table, uint32_t node, uint32_t *at, uint32_t *count)
{
    const bool may_have_ids = zend_hash_num_elements(table) <= ICE_MOST_IDS;
    const Bucket *bucket = table->arData + *at, *end = table->arData + table->nNumUsed;
    for (; bucket < end; bucket++) {
        if (UNEXPECTED(Z_TYPE(bucket->val) == IS_UNDEF))
            continue;
        if (UNEXPECTED(!is_leaf(&bucket->val))) {
            *at = (uint32_t)(bucket - table->arData);
            return false;
        }
        push_leaf(w, &bucket->val, push_key(w, bucket->key, bucket->h, may_have_ids));
        ++*count;
    }
    ice_end_node(w->tape, node, *count, 0);
    return true;
}

static bool
push_array(ice_walker *w, HashTable *table, uint16_t key, bool is_shared, bool protects, bool in_reference)
{
    const bool lists = is_list(table);
    const uint32_t count = zend_hash_num_elements(table);
    ice_walk_frame *frame;
    uint32_t node, at = 0, done = 0;
    /* igbinary writes an array that two places hold once. */
    if (w->purpose == ICE_FOR_IGBINARY && !in_reference) {
        zval held;
        ZVAL_ARR(&held, table);
        if (GC_FLAGS(table) & GC_IMMUTABLE)
            Z_TYPE_INFO(held) = IS_ARRAY;
        if (push_again(w, table, &held, ICECORE_COPY, key))
            return true;
    }
    ice_push(w->engine, w->tape, lists ? ICECORE_ARRAY : ICECORE_MAP, 0, key, count, 0);
    node = (uint32_t)w->tape->node_count - 1;
    if (w->purpose == ICE_FOR_IGBINARY)
        w->tape->nodes[node].flags |= ICECORE_FLAG_TARGET;
    if (count == 0) {
        ice_end_node(w->tape, node, 0, 0);
        return true;
    }
    if (lists ? push_leaves(w, table)
              : !(HT_FLAGS(table) & HASH_FLAG_PACKED) && push_entries(w, table, node, &at, &done))
        return true;
    frame = ice_walk_push(w, lists ? W_LIST : W_MAP, node, table, NULL, count);
    frame->at = at;
    frame->count = done;
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
    const bool nests = in_array || outer->kind == W_TABLE || w->purpose == ICE_FOR_EXPORT;
    if (!nests)
        return push_array(w, table, key, outer->is_shared || GC_REFCOUNT(table) > 1, false, false);
    if (UNEXPECTED(GC_IS_RECURSIVE(table)) || (in_array && table == outer->table)) {
        ice_walk_circle(w, key);
        return true;
    }
    return push_array(w, table, key, outer->is_shared || GC_REFCOUNT(table) > 1, true, false);
}

/* ---- values ------------------------------------------------------------- */

/* A value that is no leaf. */
static bool
push_value(ice_walker *w, zval *value, uint16_t key, const ice_walk_frame *outer)
{
    if (Z_ISREF_P(value)) {
        zval *inner = Z_REFVAL_P(value);
        if ((Z_REFCOUNT_P(value) > 1 || (outer && outer->kind == W_VARIABLES)) &&
            EXPECTED(w->purpose != ICE_FOR_EXPORT)) {
            const void *address = Z_TYPE_P(inner) == IS_OBJECT ? (void *)Z_OBJ_P(inner) : (void *)Z_REF_P(value);
            const size_t at = w->tape->node_count;
            if (push_again(w, address, value, ICECORE_ALIAS, key))
                return true;
            /* What it refers to was noted with it. */
            if (Z_TYPE_P(inner) == IS_OBJECT)
                return mark(w, at, ice_walk_object(w, Z_OBJ_P(inner), key));
            if (Z_TYPE_P(inner) == IS_ARRAY)
                return mark(w, at, push_array(w, Z_ARRVAL_P(inner), key,
                                              (outer && outer->is_shared) || GC_REFCOUNT(Z_ARRVAL_P(inner)) > 1, false,
                                              true));
            push_leaf(w, inner, key);
            return mark(w, at, true);
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
        return push_array(w, Z_ARRVAL_P(value), key, false, w->purpose == ICE_FOR_EXPORT, false);
    case IS_OBJECT:
        if (w->purpose != ICE_FOR_EXPORT &&
            (w->purpose == ICE_FOR_IGBINARY || !is_only_here(Z_OBJ_P(value), outer && outer->is_shared))) {
            const size_t at = w->tape->node_count;
            if (push_again(w, Z_OBJ_P(value), value, ICECORE_LINK, key))
                return true;
            return mark(w, at, ice_walk_object(w, Z_OBJ_P(value), key));
        }
        if (EXPECTED(w->ctx->last_written && Z_OBJCE_P(value) == w->ctx->last_written->ce) &&
            EXPECTED(w->purpose != ICE_FOR_EXPORT) && EXPECTED(ice_walk_has_slots_only(Z_OBJ_P(value))))
            return ice_walk_slots(w, Z_OBJ_P(value), key);
        return ice_walk_object(w, Z_OBJ_P(value), key);
    default: ice_push(w->engine, w->tape, ICECORE_INT, 0, key, 0, 0); return true;
    }
}

/* ---- the loop ----------------------------------------------------------- */

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
    return ice_walk_pop(w);
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
    const bool may_have_ids = zend_hash_num_elements(frame->table) <= ICE_MOST_IDS;
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
    return ice_walk_pop(w);
}

/* What igbinary makes of __sleep: names may come twice. */
static bool
walk_pairs(ice_walker *w, ice_walk_frame *frame)
{
    const uint32_t count = zend_hash_num_elements(frame->table);
    while (frame->at < count) {
        zval *name = zend_hash_index_find(frame->table, frame->at), *value = zend_hash_index_find(frame->table, frame->at + 1);
        const uint16_t id = push_key(w, Z_STR_P(name), 0, true);
        frame->at += 2;
        frame->count++;
        if (EXPECTED(is_leaf(value)))
            push_leaf(w, value, id);
        else
            return push_value(w, value, id, frame);
    }
    return ice_walk_pop(w);
}

static bool
walk_slots(ice_walker *w, ice_walk_frame *frame)
{
    zend_object *object = frame->object;
    const ice_written *written = ice_walk_class(w, object->ce);
    while (frame->at < written->count) {
        const ice_written_slot *slot = &written->slots[frame->at++];
        zval *value = OBJ_PROP(object, slot->offset);
        uint16_t id;
        if (UNEXPECTED(Z_TYPE_P(value) == IS_UNDEF))
            continue;
        id = EXPECTED(slot->key) ? slot->key : push_key(w, slot->name, 0, false);
        frame->count++;
        if (EXPECTED(is_leaf(value)))
            push_leaf(w, value, id);
        else
            return push_value(w, value, id, frame);
    }
    return ice_walk_pop(w);
}

/* The variables of a session: a map, whatever their names. */
static void
push_variables(ice_walker *w, HashTable *table)
{
    ice_push(w->engine, w->tape, ICECORE_MAP, 0, 0, 0, 0);
    GC_TRY_ADDREF(table);
    ice_walk_push(w, W_VARIABLES, 0, table, NULL, zend_hash_num_elements(table));
}

/* So many nodes fit into the cache together with what is made of them. */
#define PART 1024

/* Writes what was pushed. */
static bool
hand_over(ice_walker *w)
{
    const uint32_t count = (uint32_t)w->tape->node_count;
    switch (ice_hand_over(w->engine, w->stage, w->tape, &w->parts)) {
    case ICE_HANDED_OVER:
        w->base += count;
        w->tape->has_own_names = 1;
        return true;
    case ICE_NOT_IN_PARTS: w->hands_over = false; return true;
    default: return ice_walk_stop(w, ICE_LEFT_OFF);
    }
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
        if (UNEXPECTED(w->tape->node_count >= PART) && w->hands_over && !hand_over(w))
            return false;
        switch (frame->kind) {
        case W_LIST: goes_on = walk_list(w, frame); break;
        case W_SLOTS: goes_on = walk_slots(w, frame); break;
        case W_PAIRS: goes_on = walk_pairs(w, frame); break;
        default: goes_on = walk_table(w, frame);
        }
        if (UNEXPECTED(!goes_on))
            return false;
    }
    return true;
}

static ice_walked
walk(ice_context *ctx, zval *value, uint8_t purpose, const icecore_stage *stage, bool hands_over)
{
    ice_walker w = {
        .ctx = ctx,
        .engine = ctx->warm.engine,
        .tape = &ctx->tape,
        .stage = stage,
        .purpose = purpose,
        .hands_over = hands_over,
        .stopped = ICE_WALKED,
    };
    ctx->walk_depth = 0;
    ice_map_clear(&ctx->seen);
    ice_tape_begin(w.engine, w.tape);
    ctx->tape.has_own_names = 1;
    if (UNEXPECTED(ctx->written_generation != ctx->tape.class_generation ||
                   ctx->keys.generation != ctx->tape.key_generation)) {
        ice_written_drop(ctx);
        ctx->written_generation = ctx->tape.class_generation;
        ice_keys_of(ctx, ctx->tape.key_generation);
    }
    if (EXPECTED(walk_all(&w, value)))
        return ICE_WALKED;
    ice_walk_drop(&w);
    if (w.stopped == ICE_LEFT_OFF && w.hooks_ran) {
        ice_throw(ice_encode_exception, "limit", -1, "",
                  zend_string_init(ZEND_STRL("Icecore: the value has more levels than may be written"), 0));
        return ICE_THREW;
    }
    return w.stopped;
}

ice_walked
ice_walk(ice_context *ctx, zval *value, uint8_t purpose, const icecore_stage *stage)
{
    ice_walked walked = walk(ctx, value, purpose, stage, purpose == ICE_FOR_SERIALIZE);
    /* As a whole the writer says what is wrong. */
    return EXPECTED(walked != ICE_LEFT_OFF) ? walked : walk(ctx, value, purpose, stage, false);
}
