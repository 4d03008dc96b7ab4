/* Pushes objects that have only declared properties. If all values are leaves, the object needs no
 * frame. Otherwise a frame is pushed at the first other value. */
#include "core/walk_leaf.h"

/* Returns the number of values that will be written from `next_slot` on. */
static uint32_t
count_values(const ice_walker *w, const zend_object *object, const ice_written_class *class_info, uint32_t next_slot)
{
    uint32_t count = 0;
    if (ice_walk_writes_unset(w))
        return class_info->slot_count - next_slot;
    for (; next_slot < class_info->slot_count; next_slot++)
        count += Z_TYPE_P(OBJ_PROP((zend_object *)object, class_info->slots[next_slot].offset)) != IS_UNDEF;
    return count;
}

bool
ice_walk_slots(ice_walker *w, zend_object *object, uint16_t key, const ice_written_class *class_info)
{
    const uint32_t node = (uint32_t)w->tape->node_count;
    uint32_t next_slot = 0, count = 0;
    ice_walk_frame *frame;
    ice_tape_cursor cursor = ice_walk_begin_run(w, class_info->slot_count + 1);
    ice_walk_put_header(&cursor, key, class_info);
    cursor = ice_walk_put_slots(w, cursor, object, class_info, &next_slot, &count);
    ice_tape_cursor_end(&cursor, w->tape);
    if (EXPECTED(next_slot == class_info->slot_count)) {
        ice_walk_end_object(w, &cursor, &w->tape->nodes[node], count);
        return true;
    }
    GC_ADDREF(object);
    frame = ice_walk_push_frame(w, ICE_WALK_SLOTS, node + 1, NULL, object,
                                count + count_values(w, object, class_info, next_slot));
    frame->position = next_slot;
    frame->pushed_count = count;
    return true;
}
