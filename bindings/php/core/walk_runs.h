/* Pushes runs of values that need no frame: leaves, and objects in lists that have only leaves. */
#ifndef ICE_WALK_RUNS_H
#define ICE_WALK_RUNS_H
#include "core/walk_leaf.h"

/* Returns true if only one place refers to an object. If `is_shared` is true, the container with
 * that place may come again, and then the object comes again, too. */
static zend_always_inline bool
ice_walk_has_one_owner(const zend_object *object, bool is_shared)
{
    return !is_shared && GC_REFCOUNT(object) == 1 &&
           (object->properties == NULL || GC_REFCOUNT(object->properties) == 1);
}

/* Returns what is remembered about the class of an object that has only its slots, if no method of
 * the class must be called. Returns NULL for any other object. */
static zend_always_inline const ice_written_class *
ice_walk_cached_class(const ice_walker *w, const zend_object *object)
{
    const ice_written_class *cached = *ice_walk_cache_entry(w->ctx, object->ce);
    return cached && cached->ce == object->ce && ice_walk_has_slots_only(object, cached) ? cached : NULL;
}

/* The value at a position of a list. The list may be packed or not. */
#if PHP_VERSION_ID >= 80200
#  define ICE_ITEM(table, i) (HT_FLAGS(table) & HASH_FLAG_PACKED ? &(table)->arPacked[i] : &(table)->arData[i].val)
#else
#  define ICE_ITEM(table, i) (&(table)->arData[i].val)
#endif

/* Pushes items of a list from `*position` on, up to the first that is not a leaf, and at most a
 * run of them. Moves `*position` past them, and adds their number to `*count`. */
static zend_always_inline void
ice_walk_push_items(ice_walker *w, const HashTable *table, uint32_t *position, uint32_t *count)
{
    const uint32_t used = table->nNumUsed;
    const uint32_t end = used - *position > ICE_MAX_RUN ? *position + ICE_MAX_RUN : used;
    uint32_t i = *position, pushed = 0;
    ice_tape_cursor cursor = ice_walk_begin_run(w, ICE_MAX_RUN);
    for (; i < end; i++) {
        const zval *value = ICE_ITEM(table, i);
        if (UNEXPECTED(Z_TYPE_P(value) == IS_UNDEF))
            continue;
        if (!ice_walk_is_leaf(value))
            break;
        cursor = ice_walk_put_leaf(w, cursor, value, 0);
        pushed++;
    }
    ice_tape_cursor_end(&cursor, w->tape);
    *position = i;
    *count += pushed;
}

/* Does the same for the entries of a map. Its table must not be packed. */
static zend_always_inline void
ice_walk_push_entries(ice_walker *w, const HashTable *table, uint32_t *position, uint32_t *count)
{
    const bool may_have_ids = zend_hash_num_elements(table) <= ICE_MAX_KEYS_WITH_IDS;
    const uint32_t used = table->nNumUsed;
    const uint32_t end = used - *position > ICE_MAX_RUN ? *position + ICE_MAX_RUN : used;
    const Bucket *bucket = table->arData + *position;
    uint32_t i = *position, pushed = 0;
    ice_tape_cursor cursor = ice_walk_begin_run(w, ICE_MAX_RUN);
    for (; i < end; i++, bucket++) {
        uint16_t id;
        if (UNEXPECTED(Z_TYPE(bucket->val) == IS_UNDEF))
            continue;
        if (UNEXPECTED(!ice_walk_is_leaf(&bucket->val)))
            break;
        cursor = ice_walk_put_key(w, cursor, bucket->key, bucket->h, may_have_ids, &id);
        cursor = ice_walk_put_leaf(w, cursor, &bucket->val, id);
        pushed++;
    }
    ice_tape_cursor_end(&cursor, w->tape);
    *position = i;
    *count += pushed;
}

/* Prefetches values of a list that come soon, because each value is in memory of its own. The
 * beginning of a value is prefetched 8 items before the value is pushed. Its contents are
 * prefetched 3 items before that, because their address is in the beginning of the value. */
static zend_always_inline void
ice_walk_prefetch(const HashTable *table, uint32_t position)
{
    if (EXPECTED(table->nNumUsed - position > 8)) {
        const zval *later = ICE_ITEM(table, position + 8), *soon = ICE_ITEM(table, position + 3);
        if (Z_TYPE_P(later) > IS_STRING)
            __builtin_prefetch(Z_PTR_P(later));
        if (Z_TYPE_P(soon) == IS_ARRAY) {
            __builtin_prefetch(Z_ARRVAL_P(soon)->arData);
            __builtin_prefetch((const char *)Z_ARRVAL_P(soon)->arData + 64);
        } else if (Z_TYPE_P(soon) == IS_OBJECT)
            __builtin_prefetch((const char *)Z_OBJ_P(soon) + 64);
    }
}

/* Pushes objects of one class, from the next item of a list on. Stops at the first object to
 * which another place refers, or whose slots have other values than leaves. `value` is the next
 * item. */
static zend_always_inline void
ice_walk_push_objects(ice_walker *w, ice_walk_frame *frame, zval *value)
{
    const HashTable *table = frame->table;
    const ice_written_class *class_info = ice_walk_cached_class(w, Z_OBJ_P(value));
    uint32_t position = frame->position, object_count = 0;
    size_t remaining_nodes;
    ice_tape_cursor cursor;
    if (!class_info || class_info->slot_count >= ICE_MAX_RUN)
        return;
    cursor = ice_walk_begin_run(w, 2 * ICE_MAX_RUN);
    /* The run has room for 4 * ICE_MAX_RUN nodes. An object has fewer than ICE_MAX_RUN slots. With
     * two nodes for each slot and two for its header, it needs at most 2 * ICE_MAX_RUN nodes. */
    for (remaining_nodes = 4 * ICE_MAX_RUN; remaining_nodes > 2 * ICE_MAX_RUN; object_count++) {
        const size_t first_node = (size_t)(cursor.node - w->tape->nodes);
        uint32_t next_slot = 0, count = 0;
        zend_object *object;
        if (position == table->nNumUsed)
            break;
        value = ICE_ITEM(table, position);
        if (Z_TYPE_P(value) != IS_OBJECT)
            break;
        object = Z_OBJ_P(value);
        if (object->ce != class_info->ce || !ice_walk_has_one_owner(object, false) ||
            !ice_walk_has_slots_only(object, class_info))
            break;
        ice_walk_prefetch(table, position);
        ice_walk_put_header(&cursor, 0, class_info);
        cursor = ice_walk_put_slots(w, cursor, object, class_info, &next_slot, &count);
        if (UNEXPECTED(next_slot < class_info->slot_count)) {
            /* The object has other values than leaves, so the caller pushes it with a frame. Its
             * nodes are removed. Its text may stay in the arena, because no node refers to it. */
            cursor.node = w->tape->nodes + first_node;
            break;
        }
        ice_walk_end_object(w, &cursor, w->tape->nodes + first_node, count);
        remaining_nodes -= (size_t)(cursor.node - w->tape->nodes) - first_node;
        position++;
    }
    ice_tape_cursor_end(&cursor, w->tape);
    frame->position = position;
    frame->pushed_count += object_count;
}

#endif
