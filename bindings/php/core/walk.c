#include "core/walk_runs.h"

/* ---- values that are met again ------------------------------------------ */

/* Pushes a link or an alias if the value at this address was met before; registers it
 * otherwise. */
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

/* Marks the node at `at`, to which a link may refer. */
static bool
mark(ice_walker *w, size_t at, bool is_pushed)
{
    if (is_pushed)
        w->tape->nodes[at].flags |= ICECORE_FLAG_TARGET;
    return is_pushed;
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

static bool push_array(ice_walker *w, HashTable *table, uint16_t key, bool is_shared, bool protects, bool in_reference);
static bool push_value(ice_walker *w, zval *value, uint16_t key, const ice_walk_frame *outer);
static bool walk_frames(ice_walker *w, uint32_t depth);
static bool walk_more(ice_walker *w, ice_walk_frame *frame);

/* This many nodes fit into the cache together with their output. */
#define PART 1024
/* This many nested arrays are walked by recursion. */
#define MOST_DIRECT 64

/* Walks an array whose frame belongs to the caller. */
static bool
walk_here(ice_walker *w, ice_walk_frame *frame)
{
    const uint32_t depth = w->ctx->walk_depth;
    bool goes_on = true;
    w->direct++;
    while (!frame->is_done && goes_on)
        goes_on = (EXPECTED(w->tape->node_count < w->part) || ice_walk_hand_over(w)) && walk_more(w, frame) &&
                  (EXPECTED(w->ctx->walk_depth == depth) || walk_frames(w, depth));
    w->direct--;
    if (EXPECTED(goes_on))
        return ice_walk_end(w, frame);
    ice_walk_release(frame);
    return false;
}

/* Pushes an array in an array that is walked by recursion. */
static zend_always_inline bool
push_array_here(ice_walker *w, HashTable *table, uint16_t key, const ice_walk_frame *outer)
{
    if (UNEXPECTED(GC_IS_RECURSIVE(table)) || UNEXPECTED(table == outer->table)) {
        ice_walk_circle(w, key);
        return true;
    }
    return push_array(w, table, key, outer->is_shared || GC_REFCOUNT(table) > 1, true, false);
}

/* Walks a map whose frame belongs to the caller, without leaving it for each of its
 * arrays. */
static bool
walk_map_here(ice_walker *w, ice_walk_frame *frame)
{
    const HashTable *table = frame->table;
    const uint32_t depth = w->ctx->walk_depth;
    const bool may_have_ids = zend_hash_num_elements(table) <= ICE_MOST_IDS;
    bool goes_on = true;
    w->direct++;
    while (goes_on && frame->at < table->nNumUsed) {
        Bucket *bucket = &table->arData[frame->at];
        zval *value = &bucket->val;
        uint16_t id;
        if (UNEXPECTED(w->tape->node_count >= w->part) && UNEXPECTED(!(goes_on = ice_walk_hand_over(w))))
            break;
        if (is_leaf(value)) {
            push_entries(w, table, &frame->at, &frame->count);
            continue;
        }
        frame->at++;
        if (UNEXPECTED(Z_TYPE_P(value) == IS_INDIRECT)) {
            value = Z_INDIRECT_P(value);
            if (Z_TYPE_P(value) == IS_UNDEF)
                continue;
        }
        frame->count++;
        id = push_key(w, bucket->key, bucket->h, may_have_ids);
        if (EXPECTED(Z_TYPE_P(value) == IS_ARRAY) && EXPECTED(w->purpose <= ICE_FOR_SESSION))
            goes_on = push_array_here(w, Z_ARRVAL_P(value), id, frame);
        else if (UNEXPECTED(is_leaf(value)))
            push_leaf(w, value, id);
        else
            goes_on = push_value(w, value, id, frame);
        if (UNEXPECTED(w->ctx->walk_depth != depth) && goes_on)
            goes_on = walk_frames(w, depth);
    }
    w->direct--;
    if (EXPECTED(goes_on))
        return ice_walk_end(w, frame);
    ice_walk_release(frame);
    return false;
}

static bool
push_array(ice_walker *w, HashTable *table, uint16_t key, bool is_shared, bool protects, bool in_reference)
{
    const bool lists = is_list(table);
    const uint32_t count = zend_hash_num_elements(table);
    ice_walk_frame here, *frame = &here;
    uint32_t node, at = 0, done = 0;
    bool is_direct;
    /* igbinary writes an array that two places share once. */
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
    if (lists)
        push_items(w, table, &at, &done);
    else if (EXPECTED(!(HT_FLAGS(table) & HASH_FLAG_PACKED)))
        push_entries(w, table, &at, &done);
    if (EXPECTED(done == count)) {
        ice_end_node(w->tape, node, count, 0);
        return true;
    }
    is_direct = w->direct < MOST_DIRECT && !in_reference && w->ctx->walk_depth;
    if (EXPECTED(is_direct))
        here = (ice_walk_frame){ .kind = lists ? W_LIST : W_MAP, .node = w->base + node, .total = count, .table = table };
    else
        frame = ice_walk_push(w, lists ? W_LIST : W_MAP, node, table, NULL, count);
    w->tape->nodes[node].aux = count;
    frame->at = at;
    frame->count = done;
    frame->is_shared = is_shared;
    GC_TRY_ADDREF(table);
    if (protects && !(GC_FLAGS(table) & GC_IMMUTABLE)) {
        GC_PROTECT_RECURSION(table);
        frame->is_protected = true;
    }
    if (UNEXPECTED(!is_direct))
        return true;
    return lists || (HT_FLAGS(table) & HASH_FLAG_PACKED) ? walk_here(w, frame) : walk_map_here(w, frame);
}

/* Pushes an array in a container; an array that contains itself is null, as in PHP. */
static bool
push_inner_array(ice_walker *w, HashTable *table, uint16_t key, const ice_walk_frame *outer)
{
    const bool in_array = outer->kind == W_LIST || outer->kind == W_MAP;
    /* PHP looks for recursion in tables of properties, but not in slots. */
    const bool has_table = outer->kind == W_TABLE || (outer->kind == W_SLOTS && outer->object->properties);
    const bool nests = in_array || has_table || w->purpose == ICE_FOR_EXPORT;
    if (!nests)
        return push_array(w, table, key, outer->is_shared || GC_REFCOUNT(table) > 1, false, false);
    if (UNEXPECTED(GC_IS_RECURSIVE(table)) || (in_array && table == outer->table)) {
        ice_walk_circle(w, key);
        return true;
    }
    return push_array(w, table, key, outer->is_shared || GC_REFCOUNT(table) > 1, true, false);
}

/* ---- values ------------------------------------------------------------- */

/* PHP's text has 0 for a resource; others have null. */
static void
push_resource(ice_walker *w, uint16_t key)
{
    ice_push(w->engine, w->tape, w->purpose <= ICE_FOR_SESSION ? ICECORE_INT : ICECORE_NULL, 0, key, 0, 0);
}

/* Pushes a value that is not a leaf. */
static bool
push_value(ice_walker *w, zval *value, uint16_t key, const ice_walk_frame *outer)
{
    const ice_written *known;
    if (Z_ISREF_P(value)) {
        zval *inner = Z_REFVAL_P(value);
        if ((Z_REFCOUNT_P(value) > 1 || (outer && outer->kind == W_VARIABLES)) &&
            EXPECTED(w->purpose != ICE_FOR_EXPORT)) {
            const void *address = Z_TYPE_P(inner) == IS_OBJECT ? (void *)Z_OBJ_P(inner) : (void *)Z_REF_P(value);
            const size_t at = w->tape->node_count;
            if (push_again(w, address, value, ICECORE_ALIAS, key))
                return true;
            /* Its target was registered together with it. */
            if (Z_TYPE_P(inner) == IS_OBJECT)
                return mark(w, at, ice_walk_object(w, Z_OBJ_P(inner), key));
            if (Z_TYPE_P(inner) == IS_ARRAY)
                return mark(w, at, push_array(w, Z_ARRVAL_P(inner), key,
                                              (outer && outer->is_shared) || GC_REFCOUNT(Z_ARRVAL_P(inner)) > 1, false,
                                              true));
            if (UNEXPECTED(!is_leaf(inner)))
                push_resource(w, key);
            else
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
        if (EXPECTED(w->purpose != ICE_FOR_EXPORT) && EXPECTED((known = known_slots(w, Z_OBJ_P(value)))))
            return ice_walk_slots(w, Z_OBJ_P(value), key, known);
        return ice_walk_object(w, Z_OBJ_P(value), key);
    default: push_resource(w, key); return true;
    }
}

/* ---- the loop ----------------------------------------------------------- */

/* Walks up to a value that may have opened a frame, or until many nodes were pushed. */
static bool
walk_list(ice_walker *w, ice_walk_frame *frame)
{
    const HashTable *table = frame->table;
    while (frame->at < table->nNumUsed && EXPECTED(w->tape->node_count < w->part)) {
        zval *value = ICE_ITEM(table, frame->at);
        if (is_leaf(value)) {
            push_items(w, table, &frame->at, &frame->count);
            continue;
        }
        if (Z_TYPE_P(value) == IS_OBJECT && w->purpose <= ICE_FOR_SESSION && !frame->is_shared) {
            const uint32_t before = frame->at;
            push_objects(w, frame, value);
            if (frame->at != before)
                continue;
        }
        prefetch(table, frame->at);
        frame->at++;
        frame->count++;
        frame->is_done = frame->at == table->nNumUsed;
        return push_value(w, value, 0, frame);
    }
    frame->is_done = frame->at == table->nNumUsed;
    return true;
}

/* Returns the next entry and moves past it. NULL: there is none. */
static zend_always_inline zval *
next_entry(ice_walk_frame *frame, zend_string **key, zend_ulong *number, bool has_holes)
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
        if (Z_TYPE_P(value) == IS_INDIRECT) {
            value = Z_INDIRECT_P(value);
            if (UNEXPECTED(has_holes))
                return value;
        }
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
    if (EXPECTED(frame->kind != W_VARIABLES && !frame->has_member && !(HT_FLAGS(frame->table) & HASH_FLAG_PACKED))) {
        push_entries(w, frame->table, &frame->at, &frame->count);
        if (UNEXPECTED(w->tape->node_count >= w->part))
            return true;
    }
    while ((value = next_entry(frame, &key, &number, frame->kind == W_TABLE && ice_walk_has_holes(w)))) {
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
    frame->is_done = true;
    return true;
}

/* Walks igbinary's result of __sleep: names may be repeated. */
static bool
walk_pairs(ice_walker *w, ice_walk_frame *frame)
{
    const uint32_t count = zend_hash_num_elements(frame->table);
    while (frame->at < count) {
        zval *name = zend_hash_index_find(frame->table, frame->at), *value = zend_hash_index_find(frame->table, frame->at + 1);
        uint16_t id;
        frame->at += 2;
        frame->count++;
        if (UNEXPECTED(Z_TYPE_P(name) != IS_STRING)) {
            php_error_docref(NULL, E_NOTICE, "__sleep should return an array only containing the names of instance-variables "
                                             "to serialize");
            if (UNEXPECTED(EG(exception)))
                return ice_walk_stop(w, ICE_THREW);
            ice_push(w->engine, w->tape, ICECORE_HOLE, 0, 0, 0, 0);
            continue;
        }
        id = push_key(w, Z_STR_P(name), 0, true);
        if (EXPECTED(is_leaf(value)))
            push_leaf(w, value, id);
        else
            return push_value(w, value, id, frame);
    }
    frame->is_done = true;
    return true;
}

static bool
walk_slots(ice_walker *w, ice_walk_frame *frame)
{
    zend_object *object = frame->object;
    const ice_written *near = *ice_walk_near(w->ctx, object->ce);
    const ice_written *written = EXPECTED(near && near->ce == object->ce) ? near : ice_walk_class(w, object->ce);
    while (frame->at < written->count) {
        const ice_written_slot *slot = &written->slots[frame->at++];
        zval *value = OBJ_PROP(object, slot->offset);
        uint16_t id;
        if (UNEXPECTED(Z_TYPE_P(value) == IS_UNDEF) && !ice_walk_has_holes(w))
            continue;
        id = EXPECTED(slot->key) ? slot->key : push_key(w, slot->name, 0, false);
        frame->count++;
        if (EXPECTED(is_leaf(value)))
            push_leaf(w, value, id);
        else
            return push_value(w, value, id, frame);
    }
    frame->is_done = true;
    return true;
}

/* Pushes the variables of a session: a map, whatever their names are. */
static void
push_variables(ice_walker *w, HashTable *table)
{
    ice_push(w->engine, w->tape, ICECORE_MAP, 0, 0, 0, 0);
    GC_TRY_ADDREF(table);
    ice_walk_push(w, W_VARIABLES, 0, table, NULL, zend_hash_num_elements(table));
}

/* Continues the walk in a container. */
static bool
walk_more(ice_walker *w, ice_walk_frame *frame)
{
    switch (frame->kind) {
    case W_LIST: return walk_list(w, frame);
    case W_SLOTS: return walk_slots(w, frame);
    case W_PAIRS: return walk_pairs(w, frame);
    default: return walk_table(w, frame);
    }
}

/* Walks until at most `depth` frames are left. */
static bool
walk_frames(ice_walker *w, uint32_t depth)
{
    ice_context *ctx = w->ctx;
    while (ctx->walk_depth > depth) {
        const uint32_t now = ctx->walk_depth;
        if (UNEXPECTED(w->tape->node_count >= w->part) && !ice_walk_hand_over(w))
            return false;
        if (UNEXPECTED(!walk_more(w, &ctx->walking[now - 1])))
            return false;
        if (ctx->walk_depth == now && ctx->walking[now - 1].is_done && UNEXPECTED(!ice_walk_pop(w)))
            return false;
    }
    return true;
}

static bool
walk_all(ice_walker *w, zval *root)
{
    if (w->purpose == ICE_FOR_SESSION)
        push_variables(w, Z_ARRVAL_P(root));
    else if (is_leaf(root))
        push_leaf(w, root, 0);
    else if (!push_value(w, root, 0, NULL))
        return false;
    return walk_frames(w, 0);
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
        .part = hands_over ? PART : UINT32_MAX,
        .stopped = ICE_WALKED,
    };
    ctx->walk_depth = 0;
    smart_str_free(&ctx->text);
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
    /* When the value is written as a whole, the writer reports the error. */
    return EXPECTED(walked != ICE_LEFT_OFF) ? walked : walk(ctx, value, purpose, stage, false);
}
