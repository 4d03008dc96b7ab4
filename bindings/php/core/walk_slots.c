/* Objects with nothing but declared properties. Most have leaves only: they go without a
 * frame, up to the first value that is none. */
#include "core/walk_leaf.h"

static uint32_t
count_values(const zend_object *object, const ice_written *written, uint32_t at)
{
    uint32_t count = 0;
    for (; at < written->count; at++)
        count += Z_TYPE_P(OBJ_PROP((zend_object *)object, written->slots[at].offset)) != IS_UNDEF;
    return count;
}

bool
ice_walk_slots(ice_walker *w, zend_object *object, uint16_t key)
{
    const ice_written *written = w->ctx->last_written;
    const ice_written_slot *slot = written->slots, *end = slot + written->count;
    uint32_t node, count = 0;
    ice_walk_frame *frame;
    ice_walk_begin(w, key, written->id);
    node = (uint32_t)w->tape->node_count - 1;
    for (; slot < end; slot++) {
        const zval *value = OBJ_PROP(object, slot->offset);
        if (UNEXPECTED(Z_TYPE_P(value) == IS_UNDEF))
            continue;
        if (UNEXPECTED(!is_leaf(value)))
            break;
        push_leaf(w, value, EXPECTED(slot->key) ? slot->key : push_key(w, slot->name, 0, false));
        count++;
    }
    if (EXPECTED(slot == end)) {
        ice_end_node(w->tape, node, count, 1);
        return true;
    }
    GC_ADDREF(object);
    frame = ice_walk_push(w, W_SLOTS, node, NULL, object,
                          count + count_values(object, written, (uint32_t)(slot - written->slots)));
    frame->at = (uint32_t)(slot - written->slots);
    frame->count = count;
    return true;
}
