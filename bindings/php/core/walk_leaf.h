/* Pushes values without children, and keys.
 *
 * The _push_ functions push nodes onto the tape. The _put_ functions write nodes through an
 * ice_tape_cursor (common/ice_tape.h). The caller has made room for these nodes. The functions
 * return the moved cursor. */
#ifndef ICE_WALK_LEAF_H
#define ICE_WALK_LEAF_H
#include "core/walk.h"

/* In a map with more entries, keys get nodes and not ids, because such keys rarely come again. */
#define ICE_MAX_KEYS_WITH_IDS 32

/* Returns true for null, booleans, numbers and strings, and for a property without a value. */
static zend_always_inline bool
ice_walk_is_leaf(const zval *value)
{
    return Z_TYPE_P(value) <= IS_STRING;
}

/* Leaves are pushed in runs of at most this many values. A run makes room for all its nodes at
 * once. */
#define ICE_MAX_RUN 512

/* Makes room for this many values, each with a node for its key. */
static zend_always_inline ice_tape_cursor
ice_walk_begin_run(ice_walker *w, uint32_t value_count)
{
    return ice_tape_cursor_begin(w->engine, w->tape, 2 * value_count);
}

/* Puts a string of any length, and makes room for its bytes. This may move the tape, so a new
 * cursor is returned. Room for as many further nodes as before is made again. */
static zend_never_inline ice_tape_cursor
ice_walk_put_long_string(ice_walker *w, ice_tape_cursor cursor, const zend_string *string, uint16_t key)
{
    const size_t remaining_nodes = w->tape->node_capacity - (size_t)(cursor.node - w->tape->nodes);
    ice_tape_cursor_end(&cursor, w->tape);
    ice_push_string(w->engine, w->tape, ICECORE_BYTES, 0, key, ZSTR_VAL(string), ZSTR_LEN(string));
    return ice_tape_cursor_begin(w->engine, w->tape, remaining_nodes);
}

/* Puts a string. */
static zend_always_inline ice_tape_cursor
ice_walk_put_string(ice_walker *w, ice_tape_cursor cursor, const zend_string *string, uint16_t key)
{
    if (UNEXPECTED(!ice_tape_cursor_fits(&cursor, ZSTR_LEN(string))))
        return ice_walk_put_long_string(w, cursor, string, key);
    ice_tape_cursor_push_string(&cursor, ICECORE_BYTES, key, ZSTR_VAL(string), ZSTR_LEN(string));
    return cursor;
}

/* Puts a leaf. A property without a value becomes a hole. */
static zend_always_inline ice_tape_cursor
ice_walk_put_leaf(ice_walker *w, ice_tape_cursor cursor, const zval *value, uint16_t key)
{
    const uint8_t type = Z_TYPE_P(value);
    uint64_t bits;
    if (type == IS_LONG)
        ice_tape_cursor_push(&cursor, ICECORE_INT, key, 0, (uint64_t)Z_LVAL_P(value));
    else if (type == IS_STRING)
        return ice_walk_put_string(w, cursor, Z_STR_P(value), key);
    else if (type == IS_DOUBLE) {
        memcpy(&bits, &Z_DVAL_P(value), sizeof bits);
        ice_tape_cursor_push(&cursor, ICECORE_FLOAT, key, 0, bits);
    } else if (type == IS_TRUE || type == IS_FALSE)
        ice_tape_cursor_push(&cursor, ICECORE_BOOL, key, 0, type == IS_TRUE);
    else
        ice_tape_cursor_push(&cursor, EXPECTED(type == IS_NULL) ? ICECORE_NULL : ICECORE_HOLE, key, 0, 0);
    return cursor;
}

/* Pushes a leaf. */
static zend_always_inline void
ice_walk_push_leaf(ice_walker *w, const zval *value, uint16_t key)
{
    const ice_tape_cursor cursor = ice_walk_put_leaf(w, ice_walk_begin_run(w, 1), value, key);
    ice_tape_cursor_end(&cursor, w->tape);
}

/* Puts a node for the key of an entry, if the key needs one. `id` receives the key id for the
 * value's node. `key` is NULL if the key is the integer `number`. */
static zend_always_inline ice_tape_cursor
ice_walk_put_key(ice_walker *w, ice_tape_cursor cursor, zend_string *key, zend_ulong number, bool may_have_id,
                 uint16_t *id)
{
    if (EXPECTED(key != NULL)) {
        if (EXPECTED(may_have_id)) {
            if (EXPECTED(ice_keys_find_by_address(&w->ctx->keys, key, id)) || (*id = ice_key_register(w->ctx, key)))
                return cursor;
        }
        cursor = ice_walk_put_string(w, cursor, key, ICECORE_IS_KEY);
    } else
        ice_tape_cursor_push(&cursor, ICECORE_INT, ICECORE_IS_KEY, 0, (uint64_t)number);
    *id = ICECORE_KEY_PRECEDES;
    return cursor;
}

/* Pushes the key of an entry, and returns the key id for the value's node. */
static zend_always_inline uint16_t
ice_walk_push_key(ice_walker *w, zend_string *key, zend_ulong number, bool may_have_id)
{
    uint16_t id;
    const ice_tape_cursor cursor = ice_walk_put_key(w, ice_walk_begin_run(w, 1), key, number, may_have_id, &id);
    ice_tape_cursor_end(&cursor, w->tape);
    return id;
}

/* Puts the slots of an object from `*next_slot` on, up to the first value that is not a leaf.
 * `*next_slot` receives the first slot that was not put. Adds the number of values to `*count`. */
static zend_always_inline ice_tape_cursor
ice_walk_put_slots(ice_walker *w, ice_tape_cursor cursor, zend_object *object, const ice_written_class *class_info,
                   uint32_t *next_slot, uint32_t *count)
{
    const ice_written_property *slot = class_info->slots + *next_slot;
    const ice_written_property *end = class_info->slots + class_info->slot_count;
    uint32_t pushed = 0;
    for (; slot < end; slot++) {
        const zval *value = OBJ_PROP(object, slot->offset);
        uint16_t id = slot->key_id;
        if (UNEXPECTED(!ice_walk_is_leaf(value)))
            break;
        if (UNEXPECTED(Z_TYPE_P(value) == IS_UNDEF) && !ice_walk_writes_unset(w))
            continue;
        if (UNEXPECTED(!id))
            cursor = ice_walk_put_key(w, cursor, slot->name, 0, false, &id);
        cursor = ice_walk_put_leaf(w, cursor, value, id);
        pushed++;
    }
    *next_slot = (uint32_t)(slot - class_info->slots);
    *count += pushed;
    return cursor;
}

/* Puts the two nodes that begin an object: the object, and the map that is its body. */
static zend_always_inline void
ice_walk_put_header(ice_tape_cursor *cursor, uint16_t key, const ice_written_class *class_info)
{
    ice_tape_cursor_push(cursor, ICECORE_OBJECT, key, 1, ICE_CLASS(class_info->id));
    ice_tape_cursor_push(cursor, ICECORE_MAP, 0, 0, 0);
}

/* Ends an object with `count` properties, whose first node is `object`. */
static zend_always_inline void
ice_walk_end_object(const ice_walker *w, const ice_tape_cursor *cursor, icecore_node *object, uint32_t count)
{
    /* The class is in the upper bits of the payload. The lower bits were 0 so far. */
    icecore_node *body = object + 1;
    const uint64_t end = (uint64_t)(cursor->node - w->tape->nodes);
    object->payload |= end;
    body->aux = count;
    body->payload = end;
}

#endif
