/* Values without children, and keys. */
#ifndef ICE_WALK_LEAF_H
#define ICE_WALK_LEAF_H
#include "core/walk.h"

/* Keys of larger maps are rarely met again: they get nodes, not ids. */
#define ICE_MOST_IDS 32

static zend_always_inline bool
is_leaf(const zval *value)
{
    return Z_TYPE_P(value) <= IS_STRING;
}

/* Leaves are pushed in runs of at most this many values, each with a key of its own. A
 * run checks once if there is room for its nodes. */
#define ICE_RUN 512

static zend_always_inline ice_tape_cursor
run_pen(ice_walker *w, uint32_t values)
{
    return ice_tape_cursor_begin(w->engine, w->tape, 2 * values);
}

/* Pushes a string of any length, and makes room for it. */
static zend_never_inline ice_tape_cursor
pen_long_string(ice_walker *w, ice_tape_cursor pen, const zend_string *string, uint16_t key)
{
    const size_t room = w->tape->node_capacity - (size_t)(pen.node - w->tape->nodes);
    ice_tape_cursor_end(&pen, w->tape);
    ice_push_string(w->engine, w->tape, ICECORE_BYTES, 0, key, ZSTR_VAL(string), ZSTR_LEN(string));
    return ice_tape_cursor_begin(w->engine, w->tape, room);
}

static zend_always_inline ice_tape_cursor
pen_string(ice_walker *w, ice_tape_cursor pen, const zend_string *string, uint16_t key)
{
    if (UNEXPECTED(!ice_tape_cursor_fits(&pen, ZSTR_LEN(string))))
        return pen_long_string(w, pen, string, key);
    ice_tape_cursor_push_string(&pen, ICECORE_BYTES, key, ZSTR_VAL(string), ZSTR_LEN(string));
    return pen;
}

/* Pushes a leaf, for which there is room. */
static zend_always_inline ice_tape_cursor
pen_leaf(ice_walker *w, ice_tape_cursor pen, const zval *value, uint16_t key)
{
    const uint8_t type = Z_TYPE_P(value);
    uint64_t bits;
    if (type == IS_LONG)
        ice_tape_cursor_push(&pen, ICECORE_INT, key, 0, (uint64_t)Z_LVAL_P(value));
    else if (type == IS_STRING)
        return pen_string(w, pen, Z_STR_P(value), key);
    else if (type == IS_DOUBLE) {
        memcpy(&bits, &Z_DVAL_P(value), sizeof bits);
        ice_tape_cursor_push(&pen, ICECORE_FLOAT, key, 0, bits);
    } else if (type == IS_TRUE || type == IS_FALSE)
        ice_tape_cursor_push(&pen, ICECORE_BOOL, key, 0, type == IS_TRUE);
    else
        ice_tape_cursor_push(&pen, EXPECTED(type == IS_NULL) ? ICECORE_NULL : ICECORE_HOLE, key, 0, 0);
    return pen;
}

static zend_always_inline void
push_leaf(ice_walker *w, const zval *value, uint16_t key)
{
    const ice_tape_cursor pen = pen_leaf(w, run_pen(w, 1), value, key);
    ice_tape_cursor_end(&pen, w->tape);
}

/* Pushes the key of an entry, for which there is room, if it needs a node; `id` receives
 * the key of the value's node. */
static zend_always_inline ice_tape_cursor
pen_key(ice_walker *w, ice_tape_cursor pen, zend_string *key, zend_ulong number, bool may_have_id, uint16_t *id)
{
    if (EXPECTED(key != NULL)) {
        if (EXPECTED(may_have_id)) {
            if (EXPECTED(ice_keys_find_by_address(&w->ctx->keys, key, id)) || (*id = ice_new_key_id(w->ctx, key)))
                return pen;
        }
        pen = pen_string(w, pen, key, ICECORE_IS_KEY);
    } else
        ice_tape_cursor_push(&pen, ICECORE_INT, ICECORE_IS_KEY, 0, (uint64_t)number);
    *id = ICECORE_KEY_NODE;
    return pen;
}

static zend_always_inline uint16_t
push_key(ice_walker *w, zend_string *key, zend_ulong number, bool may_have_id)
{
    uint16_t id;
    const ice_tape_cursor pen = pen_key(w, run_pen(w, 1), key, number, may_have_id, &id);
    ice_tape_cursor_end(&pen, w->tape);
    return id;
}

/* Pushes an object that has only slots, from `*at` to the first value that is not a
 * leaf. The front exists, and there is room. */
static zend_always_inline ice_tape_cursor
pen_slots(ice_walker *w, ice_tape_cursor pen, zend_object *object, const ice_written *written, uint32_t *at, uint32_t *count)
{
    const ice_written_slot *slot = written->slots + *at, *end = written->slots + written->count;
    uint32_t pushed = 0;
    for (; slot < end; slot++) {
        const zval *value = OBJ_PROP(object, slot->offset);
        uint16_t id = slot->key;
        if (UNEXPECTED(!is_leaf(value)))
            break;
        if (UNEXPECTED(Z_TYPE_P(value) == IS_UNDEF) && !ice_walk_has_holes(w))
            continue;
        if (UNEXPECTED(!id))
            pen = pen_key(w, pen, slot->name, 0, false, &id);
        pen = pen_leaf(w, pen, value, id);
        pushed++;
    }
    *at = (uint32_t)(slot - written->slots);
    *count += pushed;
    return pen;
}

/* Pushes the front of such an object. */
static zend_always_inline void
pen_object(ice_tape_cursor *pen, uint16_t key, const ice_written *written)
{
    ice_tape_cursor_push(pen, ICECORE_OBJECT, key, 1, ICE_CLASS(written->id));
    ice_tape_cursor_push(pen, ICECORE_MAP, 0, 0, 0);
}

/* Ends such an object, whose front is at `front`. */
static zend_always_inline void
pen_end_object(const ice_walker *w, const ice_tape_cursor *pen, icecore_node *front, uint32_t count)
{
    const uint64_t end = (uint64_t)(pen->node - w->tape->nodes);
    front[0].payload |= end;
    front[1].aux = count;
    front[1].payload = end;
}

#endif
