/* Runs of values that need no frame: leaves, and in lists objects with only leaves. */
#ifndef ICE_WALK_RUNS_H
#define ICE_WALK_RUNS_H
#include "core/walk_leaf.h"

static zend_always_inline bool
is_only_here(const zend_object *object, bool is_shared)
{
    return !is_shared && GC_REFCOUNT(object) == 1 &&
           (object->properties == NULL || GC_REFCOUNT(object->properties) == 1);
}

/* Returns the facts about the class of an object that has only its slots, and none of
 * whose methods is called; or NULL. */
static zend_always_inline const ice_written *
known_slots(const ice_walker *w, const zend_object *object)
{
    const ice_written *near = *ice_walk_near(w->ctx, object->ce);
    return near && near->ce == object->ce && ice_walk_has_slots_only(object, near) ? near : NULL;
}

#if PHP_VERSION_ID >= 80200
#  define ICE_ITEM(table, i) (HT_FLAGS(table) & HASH_FLAG_PACKED ? &(table)->arPacked[i] : &(table)->arData[i].val)
#else
#  define ICE_ITEM(table, i) (&(table)->arData[i].val)
#endif

/* Pushes items of a list from `*at` on, up to the first that is not a leaf, at most a
 * run of them. */
static zend_always_inline void
push_items(ice_walker *w, const HashTable *table, uint32_t *at, uint32_t *count)
{
    const uint32_t used = table->nNumUsed, end = used - *at > ICE_RUN ? *at + ICE_RUN : used;
    uint32_t i = *at, pushed = 0;
    ice_tape_cursor pen = run_pen(w, ICE_RUN);
    for (; i < end; i++) {
        const zval *value = ICE_ITEM(table, i);
        if (UNEXPECTED(Z_TYPE_P(value) == IS_UNDEF))
            continue;
        if (!is_leaf(value))
            break;
        pen = pen_leaf(w, pen, value, 0);
        pushed++;
    }
    ice_tape_cursor_end(&pen, w->tape);
    *at = i;
    *count += pushed;
}

/* The same for the entries of a map, which is not packed. */
static zend_always_inline void
push_entries(ice_walker *w, const HashTable *table, uint32_t *at, uint32_t *count)
{
    const bool may_have_ids = zend_hash_num_elements(table) <= ICE_MOST_IDS;
    const uint32_t used = table->nNumUsed, end = used - *at > ICE_RUN ? *at + ICE_RUN : used;
    const Bucket *bucket = table->arData + *at;
    uint32_t i = *at, pushed = 0;
    ice_tape_cursor pen = run_pen(w, ICE_RUN);
    for (; i < end; i++, bucket++) {
        uint16_t id;
        if (UNEXPECTED(Z_TYPE(bucket->val) == IS_UNDEF))
            continue;
        if (UNEXPECTED(!is_leaf(&bucket->val)))
            break;
        pen = pen_key(w, pen, bucket->key, bucket->h, may_have_ids, &id);
        pen = pen_leaf(w, pen, &bucket->val, id);
        pushed++;
    }
    ice_tape_cursor_end(&pen, w->tape);
    *at = i;
    *count += pushed;
}

/* The values of a list are in separate memory: prefetches the ones that come soon. */
static zend_always_inline void
prefetch(const HashTable *table, uint32_t at)
{
    if (EXPECTED(table->nNumUsed - at > 8)) {
        const zval *far = ICE_ITEM(table, at + 8), *near = ICE_ITEM(table, at + 3);
        if (Z_TYPE_P(far) > IS_STRING)
            __builtin_prefetch(Z_PTR_P(far));
        if (Z_TYPE_P(near) == IS_ARRAY) {
            __builtin_prefetch(Z_ARRVAL_P(near)->arData);
            __builtin_prefetch((const char *)Z_ARRVAL_P(near)->arData + 64);
        } else if (Z_TYPE_P(near) == IS_OBJECT)
            __builtin_prefetch((const char *)Z_OBJ_P(near) + 64);
    }
}

/* Pushes objects that only this list holds and that have only leaves in their slots,
 * from the next item on. */
static zend_always_inline void
push_objects(ice_walker *w, ice_walk_frame *frame, zval *value)
{
    const HashTable *table = frame->table;
    const ice_written *written = known_slots(w, Z_OBJ_P(value));
    uint32_t at = frame->at, done = 0;
    size_t room;
    ice_tape_cursor pen;
    if (!written || written->count >= ICE_RUN)
        return;
    pen = run_pen(w, 2 * ICE_RUN);
    for (room = 4 * ICE_RUN; room > 2 * ICE_RUN; done++) {
        const size_t front = (size_t)(pen.node - w->tape->nodes);
        uint32_t slot = 0, count = 0;
        zend_object *object;
        if (at == table->nNumUsed)
            break;
        value = ICE_ITEM(table, at);
        if (Z_TYPE_P(value) != IS_OBJECT)
            break;
        object = Z_OBJ_P(value);
        if (object->ce != written->ce || !is_only_here(object, false) || !ice_walk_has_slots_only(object, written))
            break;
        prefetch(table, at);
        pen_object(&pen, 0, written);
        pen = pen_slots(w, pen, object, written, &slot, &count);
        if (UNEXPECTED(slot < written->count)) {
            pen.node = w->tape->nodes + front;
            break;
        }
        pen_end_object(w, &pen, w->tape->nodes + front, count);
        room -= (size_t)(pen.node - w->tape->nodes) - front;
        at++;
    }
    ice_tape_cursor_end(&pen, w->tape);
    frame->at = at;
    frame->count += done;
}

#endif
