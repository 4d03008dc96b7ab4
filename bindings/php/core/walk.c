/* The loop of the walk, with arrays and values of any type. */
#include "core/walk_runs.h"

/* ---- values that several places refer to -------------------------------- */

/* Returns the flags of a node for a PHP reference that several places have. igbinary marks each
 * such place, even if the other places are not part of the value. PHP's text has no such mark. */
static inline uint8_t
flags_of_reference(const ice_walker *w)
{
    return w->purpose == ICE_FOR_IGBINARY ? ICECORE_FLAG_REF : 0;
}

/* If the value at this address was pushed before, pushes a link or an alias (`kind`) with these
 * flags, and returns true. Otherwise registers it as the value of the next node, and keeps
 * `holder` alive, so that the address is not reused. */
static bool
push_again_or_register(ice_walker *w, const void *address, zval *holder, uint8_t kind, uint8_t flags, uint16_t key)
{
    const ice_slot *slot = ice_map_find(&w->ctx->node_by_address, address);
    if (slot) {
        ice_push(w->engine, w->tape, kind, flags, key, 0, slot->value);
        return true;
    }
    ice_map_add(&w->ctx->node_by_address, address, ice_walk_next_node(w));
    ice_keep_for_call(w->ctx, holder);
    return false;
}

/* Marks a node as a possible target of a link, and sets these flags, if it was pushed. Returns
 * `is_pushed`. The node is still on the tape, because only the walk of an open container writes
 * parts. */
static bool
mark_as_target(ice_walker *w, size_t node, uint8_t flags, bool is_pushed)
{
    if (is_pushed)
        w->tape->nodes[node].flags |= flags | ICECORE_FLAG_TARGET;
    return is_pushed;
}

/* ---- arrays ------------------------------------------------------------- */

/* Returns true if the keys are 0, 1, 2 and so on, in this order. */
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

/* Flags of push_array. */
enum {
    ARRAY_IS_SHARED = 1,    /* its contents may come again */
    ARRAY_IS_PROTECTED = 2, /* it is marked against recursion while it is walked */
    ARRAY_IN_REFERENCE = 4  /* it is the value of a PHP reference, and the caller has registered it under the
                             * address of that reference */
};

static bool push_array(ice_walker *w, HashTable *table, uint16_t key, uint32_t flags);
static bool push_value(ice_walker *w, zval *value, uint16_t key, const ice_walk_frame *outer);
static bool walk_down_to(ice_walker *w, uint32_t depth);
static bool continue_frame(ice_walker *w, ice_walk_frame *frame);

/* Number of nodes in a part. This many nodes and their output fit into the processor's cache. */
#define NODES_PER_PART 1024
/* Maximum number of nested arrays that are walked by recursion. Deeper ones get frames on the stack of
 * the context. */
#define MAX_RECURSION 64

/* Walks an array to its end. Its frame is a local variable of a caller. A value of the array may
 * push a frame on the stack. This frame is walked before the next value. */
static bool
walk_recursively(ice_walker *w, ice_walk_frame *frame)
{
    const uint32_t depth = w->ctx->walk_depth;
    bool is_ok = true;
    w->recursion_depth++;
    while (!frame->is_at_end && is_ok)
        is_ok = (EXPECTED(w->tape->node_count < w->part_end) || ice_walk_write_part(w)) && continue_frame(w, frame) &&
                (EXPECTED(w->ctx->walk_depth == depth) || walk_down_to(w, depth));
    w->recursion_depth--;
    if (EXPECTED(is_ok))
        return ice_walk_end_frame(w, frame);
    ice_walk_release_frame(frame);
    return false;
}

/* Returns ARRAY_IS_SHARED if the contents of an array in an array may come again. `outer` is the
 * frame around it. */
static zend_always_inline uint32_t
sharing_flag_in_array(const HashTable *table, const ice_walk_frame *outer)
{
    return outer->is_shared || GC_REFCOUNT(table) > 1 ? ARRAY_IS_SHARED : 0;
}

/* Does the same for any array. As in PHP, each variable of a session is a root, and it does not
 * matter if other places share an array that is a root. */
static uint32_t
sharing_flag(const HashTable *table, const ice_walk_frame *outer)
{
    return outer && outer->kind != ICE_WALK_VARIABLES ? sharing_flag_in_array(table, outer) : 0;
}

/* Pushes an array in a map that walk_map_recursively walks. The map itself may have no mark
 * against recursion, so its address is compared, too. */
static zend_always_inline bool
push_array_in_array(ice_walker *w, HashTable *table, uint16_t key, const ice_walk_frame *outer)
{
    if (UNEXPECTED(GC_IS_RECURSIVE(table)) || UNEXPECTED(table == outer->table)) {
        ice_walk_push_recursion(w, key);
        return true;
    }
    return push_array(w, table, key, sharing_flag_in_array(table, outer) | ARRAY_IS_PROTECTED);
}

/* Walks a map to its end, as walk_recursively does, but without a call of continue_frame for each
 * array in it. */
static bool
walk_map_recursively(ice_walker *w, ice_walk_frame *frame)
{
    const HashTable *table = frame->table;
    const uint32_t depth = w->ctx->walk_depth;
    const bool may_have_ids = zend_hash_num_elements(table) <= ICE_MAX_KEYS_WITH_IDS;
    bool is_ok = true;
    w->recursion_depth++;
    while (is_ok && frame->position < table->nNumUsed) {
        Bucket *bucket = &table->arData[frame->position];
        zval *value = &bucket->val;
        uint16_t id;
        if (UNEXPECTED(w->tape->node_count >= w->part_end) && UNEXPECTED(!(is_ok = ice_walk_write_part(w))))
            break;
        if (ice_walk_is_leaf(value)) {
            ice_walk_push_entries(w, table, &frame->position, &frame->pushed_count);
            continue;
        }
        frame->position++;
        if (UNEXPECTED(Z_TYPE_P(value) == IS_INDIRECT)) {
            value = Z_INDIRECT_P(value);
            if (Z_TYPE_P(value) == IS_UNDEF)
                continue;
        }
        frame->pushed_count++;
        id = ice_walk_push_key(w, bucket->key, bucket->h, may_have_ids);
        if (EXPECTED(Z_TYPE_P(value) == IS_ARRAY) && EXPECTED(ice_walk_writes_php_text(w)))
            is_ok = push_array_in_array(w, Z_ARRVAL_P(value), id, frame);
        else if (UNEXPECTED(ice_walk_is_leaf(value)))
            ice_walk_push_leaf(w, value, id);
        else
            is_ok = push_value(w, value, id, frame);
        if (UNEXPECTED(w->ctx->walk_depth != depth) && is_ok)
            is_ok = walk_down_to(w, depth);
    }
    w->recursion_depth--;
    if (EXPECTED(is_ok))
        return ice_walk_end_frame(w, frame);
    ice_walk_release_frame(frame);
    return false;
}

/* Pushes an array, with all that it contains or a frame on the stack. */
static bool
push_array(ice_walker *w, HashTable *table, uint16_t key, uint32_t flags)
{
    const bool is_a_list = is_list(table);
    const uint32_t count = zend_hash_num_elements(table);
    ice_walk_frame local_frame, *frame = &local_frame;
    uint32_t node, position = 0, pushed_count = 0;
    bool is_recursive;
    /* igbinary writes an array once, even if several places share it. But it does not register an
     * array that is the root, so it writes such an array once more if it is found again. */
    if (w->purpose == ICE_FOR_IGBINARY && !(flags & ARRAY_IN_REFERENCE) && ice_walk_next_node(w)) {
        zval holder;
        ZVAL_ARR(&holder, table);
        /* An immutable array has no count of references. The type IS_ARRAY without the flag for
         * counting keeps ZVAL_COPY from changing it. */
        if (GC_FLAGS(table) & GC_IMMUTABLE)
            Z_TYPE_INFO(holder) = IS_ARRAY;
        /* The array may still be open, so this is a link and not a copy. */
        if (push_again_or_register(w, table, &holder, ICECORE_LINK, 0, key))
            return true;
    }
    ice_push(w->engine, w->tape, is_a_list ? ICECORE_ARRAY : ICECORE_MAP, 0, key, count, 0);
    node = (uint32_t)w->tape->node_count - 1;
    if (w->purpose == ICE_FOR_IGBINARY)
        w->tape->nodes[node].flags |= ICECORE_FLAG_TARGET;
    if (count == 0) {
        ice_end_node(w->tape, node, 0, 0);
        return true;
    }
    if (is_a_list)
        ice_walk_push_items(w, table, &position, &pushed_count);
    else if (EXPECTED(!(HT_FLAGS(table) & HASH_FLAG_PACKED)))
        ice_walk_push_entries(w, table, &position, &pushed_count);
    if (EXPECTED(pushed_count == count)) {
        ice_end_node(w->tape, node, count, 0);
        return true;
    }
    /* The outermost container has a frame on the stack, because estimate_len in walk_parts.c reads
     * it. So does an array in a reference, because its node must stay on the tape until the caller
     * has marked it. */
    is_recursive = w->recursion_depth < MAX_RECURSION && !(flags & ARRAY_IN_REFERENCE) && w->ctx->walk_depth;
    if (EXPECTED(is_recursive))
        local_frame = (ice_walk_frame){ .kind = is_a_list ? ICE_WALK_LIST : ICE_WALK_MAP,
                                        .node = w->written_node_count + node,
                                        .announced_count = count,
                                        .table = table };
    else
        frame = ice_walk_push_frame(w, is_a_list ? ICE_WALK_LIST : ICE_WALK_MAP, node, table, NULL, count);
    w->tape->nodes[node].aux = count;
    frame->position = position;
    frame->pushed_count = pushed_count;
    frame->is_shared = (flags & ARRAY_IS_SHARED) != 0;
    GC_TRY_ADDREF(table);
    if (flags & ARRAY_IS_PROTECTED && !(GC_FLAGS(table) & GC_IMMUTABLE)) {
        GC_PROTECT_RECURSION(table);
        frame->is_protected = true;
    }
    if (UNEXPECTED(!is_recursive))
        return true;
    return is_a_list || (HT_FLAGS(table) & HASH_FLAG_PACKED) ? walk_recursively(w, frame)
                                                             : walk_map_recursively(w, frame);
}

/* Pushes an array that is in a container. As in PHP, an array in itself becomes null. In igbinary it
 * becomes a link. */
static bool
push_inner_array(ice_walker *w, HashTable *table, uint16_t key, const ice_walk_frame *outer)
{
    const bool in_array = outer->kind == ICE_WALK_LIST || outer->kind == ICE_WALK_MAP;
    /* PHP checks for recursion in a hash table of properties, but not in slots. */
    const bool has_table =
        outer->kind == ICE_WALK_TABLE || (outer->kind == ICE_WALK_SLOTS && outer->object->properties);
    const bool checks_recursion = in_array || has_table || w->purpose == ICE_FOR_EXPORT;
    if (w->purpose == ICE_FOR_IGBINARY)
        return push_array(w, table, key, 0);
    if (!checks_recursion)
        return push_array(w, table, key, sharing_flag(table, outer));
    if (UNEXPECTED(GC_IS_RECURSIVE(table)) || (in_array && table == outer->table)) {
        ice_walk_push_recursion(w, key);
        return true;
    }
    return push_array(w, table, key, sharing_flag(table, outer) | ARRAY_IS_PROTECTED);
}

/* ---- values ------------------------------------------------------------- */

/* In PHP's text a resource is the integer 0; in other formats it is null. igbinary warns about it. */
static bool
push_resource(ice_walker *w, const zval *resource, uint16_t key)
{
    if (w->purpose == ICE_FOR_IGBINARY) {
        const char *type = zend_rsrc_list_get_rsrc_type(Z_RES_P(resource));
        php_error_docref(NULL, E_DEPRECATED,
                         "Cannot serialize resource(%s) and resources may be converted to objects that cannot be "
                         "serialized in future php releases. Serializing the value as null instead",
                         type ? type : "Unknown");
        if (EG(exception))
            return ice_walk_stop(w, ICE_THROWN);
    }
    ice_push(w->engine, w->tape, ice_walk_writes_php_text(w) ? ICECORE_INT : ICECORE_NULL, 0, key, 0, 0);
    return true;
}

/* Pushes a value that is not a leaf. `outer` is the frame around it; NULL for the root. */
static bool
push_value(ice_walker *w, zval *value, uint16_t key, const ice_walk_frame *outer)
{
    const ice_written_class *class_info;
    if (Z_ISREF_P(value)) {
        /* A PHP reference that only one place has is an ordinary value. The variables of a session
         * are an exception. */
        zval *inner = Z_REFVAL_P(value);
        if ((Z_REFCOUNT_P(value) > 1 || (outer && outer->kind == ICE_WALK_VARIABLES)) &&
            EXPECTED(w->purpose != ICE_FOR_EXPORT)) {
            const void *address = Z_TYPE_P(inner) == IS_OBJECT ? (void *)Z_OBJ_P(inner) : (void *)Z_REF_P(value);
            const size_t node = w->tape->node_count;
            const uint8_t flags = flags_of_reference(w);
            if (push_again_or_register(w, address, value, ICECORE_ALIAS, flags, key))
                return true;
            /* PHP counts a reference and its object as one value, so both are registered under the
             * address of the object. */
            if (Z_TYPE_P(inner) == IS_OBJECT)
                return mark_as_target(w, node, flags, ice_walk_object(w, Z_OBJ_P(inner), key));
            if (Z_TYPE_P(inner) == IS_ARRAY)
                return mark_as_target(w, node, flags,
                                      push_array(w, Z_ARRVAL_P(inner), key,
                                                 sharing_flag(Z_ARRVAL_P(inner), outer) | ARRAY_IN_REFERENCE));
            if (UNEXPECTED(!ice_walk_is_leaf(inner)))
                return mark_as_target(w, node, flags, push_resource(w, inner, key));
            ice_walk_push_leaf(w, inner, key);
            return mark_as_target(w, node, flags, true);
        }
        value = inner;
        if (ice_walk_is_leaf(value)) {
            ice_walk_push_leaf(w, value, key);
            return true;
        }
    }
    switch (Z_TYPE_P(value)) {
    case IS_ARRAY:
        if (outer)
            return push_inner_array(w, Z_ARRVAL_P(value), key, outer);
        return push_array(w, Z_ARRVAL_P(value), key, w->purpose == ICE_FOR_EXPORT ? ARRAY_IS_PROTECTED : 0);
    case IS_OBJECT:
        if (w->purpose != ICE_FOR_EXPORT &&
            (w->purpose == ICE_FOR_IGBINARY || !ice_walk_has_one_owner(Z_OBJ_P(value), outer && outer->is_shared))) {
            const size_t node = w->tape->node_count;
            if (push_again_or_register(w, Z_OBJ_P(value), value, ICECORE_LINK, 0, key))
                return true;
            return mark_as_target(w, node, 0, ice_walk_object(w, Z_OBJ_P(value), key));
        }
        if (EXPECTED(w->purpose != ICE_FOR_EXPORT) &&
            EXPECTED((class_info = ice_walk_cached_class(w, Z_OBJ_P(value)))))
            return ice_walk_slots(w, Z_OBJ_P(value), key, class_info);
        return ice_walk_object(w, Z_OBJ_P(value), key);
    default: return push_resource(w, value, key);
    }
}

/* ---- the loop ----------------------------------------------------------- */

/* Each of the walk_ functions below pushes entries of a frame until it is at its end, until a
 * value was pushed that may have a frame of its own, or until the part is full. */

/* Walks an array that is a list. */
static bool
walk_list(ice_walker *w, ice_walk_frame *frame)
{
    const HashTable *table = frame->table;
    while (frame->position < table->nNumUsed && EXPECTED(w->tape->node_count < w->part_end)) {
        zval *value = ICE_ITEM(table, frame->position);
        if (ice_walk_is_leaf(value)) {
            ice_walk_push_items(w, table, &frame->position, &frame->pushed_count);
            continue;
        }
        if (Z_TYPE_P(value) == IS_OBJECT && ice_walk_writes_php_text(w) && !frame->is_shared) {
            const uint32_t before = frame->position;
            ice_walk_push_objects(w, frame, value);
            if (frame->position != before)
                continue;
        }
        ice_walk_prefetch(table, frame->position);
        frame->position++;
        frame->pushed_count++;
        frame->is_at_end = frame->position == table->nNumUsed;
        return push_value(w, value, 0, frame);
    }
    frame->is_at_end = frame->position == table->nNumUsed;
    return true;
}

/* Returns the value of the next entry, and moves past it. Returns NULL if no entry is left. If
 * `writes_unset` is true, properties without a value are entries, too. */
static zend_always_inline zval *
next_entry(ice_walk_frame *frame, zend_string **key, zend_ulong *number, bool writes_unset)
{
    const HashTable *table = frame->table;
    while (frame->position < table->nNumUsed) {
        zval *value;
#if PHP_VERSION_ID >= 80200
        if (HT_FLAGS(table) & HASH_FLAG_PACKED) {
            value = &table->arPacked[frame->position];
            *key = NULL;
            *number = frame->position++;
        } else
#endif
        {
            Bucket *bucket = &table->arData[frame->position++];
            value = &bucket->val;
            *key = bucket->key;
            *number = bucket->h;
        }
        if (Z_TYPE_P(value) == IS_INDIRECT) {
            value = Z_INDIRECT_P(value);
            if (UNEXPECTED(writes_unset))
                return value;
        }
        if (EXPECTED(Z_TYPE_P(value) != IS_UNDEF))
            return value;
    }
    return NULL;
}

/* Walks a hash table: a map, the properties of an object or the variables of a session. */
static bool
walk_table(ice_walker *w, ice_walk_frame *frame)
{
    const bool may_have_ids = zend_hash_num_elements(frame->table) <= ICE_MAX_KEYS_WITH_IDS;
    zend_string *key;
    zend_ulong number;
    zval *value;
    /* A run of leaves is pushed without looking at the keys. In a session, integer keys are
     * skipped, and in an incomplete object, the property with its class name. */
    if (EXPECTED(frame->kind != ICE_WALK_VARIABLES && !frame->skips_class_name &&
                 !(HT_FLAGS(frame->table) & HASH_FLAG_PACKED))) {
        ice_walk_push_entries(w, frame->table, &frame->position, &frame->pushed_count);
        if (UNEXPECTED(w->tape->node_count >= w->part_end))
            return true;
    }
    while ((value = next_entry(frame, &key, &number, frame->kind == ICE_WALK_TABLE && ice_walk_writes_unset(w)))) {
        uint16_t id;
        if (UNEXPECTED(frame->skips_class_name) && key &&
            zend_string_equals_literal(key, "__PHP_Incomplete_Class_Name")) {
            frame->skips_class_name = false;
            continue;
        }
        if (UNEXPECTED(!key) && frame->kind == ICE_WALK_VARIABLES)
            continue;
        id = ice_walk_push_key(w, key, number, may_have_ids);
        frame->pushed_count++;
        if (EXPECTED(ice_walk_is_leaf(value)))
            ice_walk_push_leaf(w, value, id);
        else
            return push_value(w, value, id, frame);
    }
    frame->is_at_end = true;
    return true;
}

/* Walks the names that __sleep returned, for igbinary. As in igbinary, each property is looked up
 * when it is written. */
static bool
walk_sleep_names(ice_walker *w, ice_walk_frame *frame)
{
    zend_string *key;
    zend_ulong number;
    zval *name;
    while ((name = next_entry(frame, &key, &number, false))) {
        HashTable *properties;
        zend_string *written_name;
        zval *value, holder;
        uint16_t id;
        bool is_leaf, is_ok = true;
        frame->pushed_count++;
        if (UNEXPECTED(Z_TYPE_P(name) != IS_STRING)) {
            if (!ice_walk_warn_no_names())
                return ice_walk_stop(w, ICE_THROWN);
            ice_push(w->engine, w->tape, ICECORE_HOLE, 0, 0, 0, 0);
            continue;
        }
        ZVAL_OBJ(&holder, frame->object);
        properties = zend_get_properties_for(&holder, ZEND_PROP_PURPOSE_SERIALIZE);
        value = ice_walk_named_property(frame->object, properties, Z_STR_P(name), &written_name);
        if (UNEXPECTED(!value)) {
            zend_release_properties(properties);
            return ice_walk_stop(w, ICE_THROWN);
        }
        id = ice_walk_push_key(w, written_name, 0, true);
        zend_string_release(written_name);
        is_leaf = ice_walk_is_leaf(value);
        if (EXPECTED(is_leaf))
            ice_walk_push_leaf(w, value, id);
        else
            is_ok = push_value(w, value, id, frame);
        zend_release_properties(properties);
        if (!is_leaf)
            return is_ok;
    }
    frame->is_at_end = true;
    return true;
}

/* Walks the declared properties of an object. */
static bool
walk_slots(ice_walker *w, ice_walk_frame *frame)
{
    zend_object *object = frame->object;
    const ice_written_class *cached = *ice_walk_cache_entry(w->ctx, object->ce);
    const ice_written_class *class_info =
        EXPECTED(cached && cached->ce == object->ce) ? cached : ice_walk_class_info(w, object->ce);
    while (frame->position < class_info->slot_count) {
        const ice_written_property *slot = &class_info->slots[frame->position++];
        zval *value = OBJ_PROP(object, slot->offset);
        uint16_t id;
        if (UNEXPECTED(Z_TYPE_P(value) == IS_UNDEF) && !ice_walk_writes_unset(w))
            continue;
        id = EXPECTED(slot->key_id) ? slot->key_id : ice_walk_push_key(w, slot->name, 0, false);
        frame->pushed_count++;
        if (EXPECTED(ice_walk_is_leaf(value)))
            ice_walk_push_leaf(w, value, id);
        else
            return push_value(w, value, id, frame);
    }
    frame->is_at_end = true;
    return true;
}

/* Pushes the variables of a session, as a map even if their names are 0, 1 and so on. */
static void
push_variables(ice_walker *w, HashTable *table)
{
    ice_push(w->engine, w->tape, ICECORE_MAP, 0, 0, 0, 0);
    GC_TRY_ADDREF(table);
    ice_walk_push_frame(w, ICE_WALK_VARIABLES, 0, table, NULL, zend_hash_num_elements(table));
}

/* Continues a container. */
static bool
continue_frame(ice_walker *w, ice_walk_frame *frame)
{
    switch (frame->kind) {
    case ICE_WALK_LIST: return walk_list(w, frame);
    case ICE_WALK_SLOTS: return walk_slots(w, frame);
    case ICE_WALK_NAMES: return walk_sleep_names(w, frame);
    default: return walk_table(w, frame);
    }
}

/* Walks the frames on the stack until only `depth` of them are left. */
static bool
walk_down_to(ice_walker *w, uint32_t depth)
{
    ice_context *ctx = w->ctx;
    while (ctx->walk_depth > depth) {
        const uint32_t depth_before = ctx->walk_depth;
        if (UNEXPECTED(w->tape->node_count >= w->part_end) && !ice_walk_write_part(w))
            return false;
        if (UNEXPECTED(!continue_frame(w, &ctx->walk_frames[depth_before - 1])))
            return false;
        if (ctx->walk_depth == depth_before && ctx->walk_frames[depth_before - 1].is_at_end &&
            UNEXPECTED(!ice_walk_pop_frame(w)))
            return false;
    }
    return true;
}

/* Walks the root and everything in it. */
static bool
walk_all(ice_walker *w, zval *root)
{
    if (w->purpose == ICE_FOR_SESSION)
        push_variables(w, Z_ARRVAL_P(root));
    else if (ice_walk_is_leaf(root))
        ice_walk_push_leaf(w, root, 0);
    else if (!push_value(w, root, 0, NULL))
        return false;
    return walk_down_to(w, 0);
}

/* Walks a value. If `in_parts` is true, the output is written in parts during the walk. A hook must
 * not run twice. So if the walk must begin again after a hook has run, an exception is thrown. */
static ice_walk_result
walk(ice_context *ctx, zval *value, uint8_t purpose, const icecore_stage *stage, bool in_parts)
{
    ice_walker w = {
        .ctx = ctx,
        .engine = ctx->pooled.engine,
        .tape = &ctx->tape,
        .stage = stage,
        .purpose = purpose,
        .part_end = in_parts ? NODES_PER_PART : UINT32_MAX,
        .stop_reason = ICE_DONE,
    };
    ctx->walk_depth = 0;
    smart_str_free(&ctx->written_text);
    ice_map_clear(&ctx->node_by_address);
    ice_tape_begin(w.engine, w.tape);
    ctx->tape.has_own_names = 1;
    if (UNEXPECTED(ctx->written_class_generation != ctx->tape.class_generation ||
                   ctx->keys.generation != ctx->tape.key_generation)) {
        ice_written_classes_drop(ctx);
        ctx->written_class_generation = ctx->tape.class_generation;
        ice_keys_sync(ctx, ctx->tape.key_generation);
    }
    if (EXPECTED(walk_all(&w, value)))
        return ICE_DONE;
    ice_walk_drop_frames(&w);
    if (w.stop_reason == ICE_NEEDS_WHOLE && w.has_called_hooks) {
        ice_throw(ice_encode_exception, "limit", -1, "",
                  zend_string_init(ZEND_STRL("Icecore: the value has more levels than may be written"), 0));
        return ICE_THROWN;
    }
    return w.stop_reason;
}

ice_walk_result
ice_walk(ice_context *ctx, zval *value, uint8_t purpose, const icecore_stage *stage)
{
    ice_walk_result result = walk(ctx, value, purpose, stage, purpose == ICE_FOR_SERIALIZE);
    /* The second walk fills the tape with the whole value. Its writer will report the error. */
    return EXPECTED(result != ICE_NEEDS_WHOLE) ? result : walk(ctx, value, purpose, stage, false);
}
