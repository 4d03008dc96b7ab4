/* Opens and closes containers. Each frame owns references to its container, because hooks may
 * change or free anything. */
#include "core/walk.h"

ice_walk_frame *
ice_walk_push_frame(ice_walker *w, uint8_t kind, size_t node, HashTable *table, zend_object *object,
                    uint32_t announced_count)
{
    ice_context *ctx = w->ctx;
    ice_walk_frame *frame;
    if (UNEXPECTED(ctx->walk_depth == ctx->walk_capacity))
        ctx->walk_frames = ice_stack_grow(ctx->walk_frames, &ctx->walk_capacity, sizeof *ctx->walk_frames, 64);
    frame = &ctx->walk_frames[ctx->walk_depth++];
    frame->kind = kind;
    frame->is_shared = frame->is_protected = frame->skips_class_name = frame->is_at_end = false;
    /* The body of an object has one wrapper, the object node before it. An array has none. */
    frame->wrapper_count = object != NULL;
    frame->node = w->written_node_count + (uint32_t)node;
    frame->position = frame->pushed_count = 0;
    frame->announced_count = announced_count;
    frame->table = table;
    frame->object = object;
    w->tape->nodes[node].aux = announced_count;
    return frame;
}

void
ice_walk_release_frame(ice_walk_frame *frame)
{
    if (frame->is_protected)
        GC_UNPROTECT_RECURSION(frame->object ? (zend_refcounted *)frame->object : (zend_refcounted *)frame->table);
    if (frame->table)
        zend_array_release(frame->table);
    if (frame->object)
        OBJ_RELEASE(frame->object);
}

void
ice_walk_push_recursion(ice_walker *w, uint16_t key)
{
    if (w->purpose == ICE_FOR_EXPORT)
        zend_error(E_WARNING, "var_export does not handle circular references");
    ice_push(w->engine, w->tape, ICECORE_NULL, 0, key, 0, 0);
}

bool
ice_walk_end_frame(ice_walker *w, ice_walk_frame *frame)
{
    /* If the node was written in a part, its count was written too, and can't be changed. So the
     * announced count must be the count of the entries that were pushed. */
    const bool is_count_right = frame->node >= w->written_node_count || frame->pushed_count == frame->announced_count;
    if (EXPECTED(frame->node >= w->written_node_count))
        ice_end_node(w->tape, frame->node - w->written_node_count, frame->pushed_count, frame->wrapper_count);
    ice_walk_release_frame(frame);
    if (EXPECTED(is_count_right))
        return true;
    zend_throw_error(NULL, "Icecore: a method changed an object while it was serialized");
    return ice_walk_stop(w, ICE_THROWN);
}

bool
ice_walk_pop_frame(ice_walker *w)
{
    /* Releasing the frame may run a destructor, which may call this module again. */
    ice_walk_frame ended = w->ctx->walk_frames[--w->ctx->walk_depth];
    return ice_walk_end_frame(w, &ended);
}

void
ice_walk_drop_frames(ice_walker *w)
{
    while (w->ctx->walk_depth) {
        ice_walk_frame open = w->ctx->walk_frames[--w->ctx->walk_depth];
        ice_walk_release_frame(&open);
    }
}
