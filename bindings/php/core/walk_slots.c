/* Objects that have only declared properties. Most have only leaves: they need no frame,
 * up to the first value that is not a leaf. */
#include "core/walk_leaf.h"

static uint32_t
count_values(const ice_walker *w, const zend_object *object, const ice_written *written, uint32_t at)
{
    uint32_t count = 0;
    if (ice_walk_has_holes(w))
        return written->count - at;
    for (; at < written->count; at++)
        count += Z_TYPE_P(OBJ_PROP((zend_object *)object, written->slots[at].offset)) != IS_UNDEF;
    return count;
}

bool
ice_walk_slots(ice_walker *w, zend_object *object, uint16_t key, const ice_written *written)
{
    const uint32_t node = (uint32_t)w->tape->node_count;
    uint32_t at = 0, count = 0;
    ice_walk_frame *frame;
    ice_tape_cursor pen = run_pen(w, written->count + 1);
    pen_object(&pen, key, written);
    pen = pen_slots(w, pen, object, written, &at, &count);
    ice_tape_cursor_end(&pen, w->tape);
    if (EXPECTED(at == written->count)) {
        pen_end_object(w, &pen, &w->tape->nodes[node], count);
        return true;
    }
    GC_ADDREF(object);
    frame = ice_walk_push(w, W_SLOTS, node + 1, NULL, object, count + count_values(w, object, written, at));
    frame->at = at;
    frame->count = count;
    return true;
}
