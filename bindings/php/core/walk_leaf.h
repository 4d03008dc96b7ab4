/* Values without children, and keys. */
#ifndef ICE_WALK_LEAF_H
#define ICE_WALK_LEAF_H
#include "core/walk.h"

/* Keys of larger maps are seldom met again: they get nodes, not ids. */
#define ICE_MOST_IDS 32

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

#endif
