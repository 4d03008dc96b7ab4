/* Open containers: they are held, because hooks may change or free anything. */
#include "core/walk.h"

ice_walk_frame *
ice_walk_push(ice_walker *w, uint8_t kind, size_t node, HashTable *table, zend_object *object, uint32_t total)
{
    ice_context *ctx = w->ctx;
    ice_walk_frame *frame;
    if (UNEXPECTED(ctx->walk_depth == ctx->walk_room))
        ctx->walking = ice_stack_grow(ctx->walking, &ctx->walk_room, sizeof *ctx->walking, 64);
    frame = &ctx->walking[ctx->walk_depth++];
    frame->kind = kind;
    frame->is_shared = frame->is_protected = frame->has_member = frame->is_done = false;
    frame->wraps = object != NULL;
    frame->node = w->base + (uint32_t)node;
    frame->at = frame->count = 0;
    frame->total = total;
    frame->table = table;
    frame->object = object;
    w->tape->nodes[node].aux = total;
    return frame;
}

void
ice_walk_release(ice_walk_frame *frame)
{
    if (frame->is_protected)
        GC_UNPROTECT_RECURSION(frame->object ? (zend_refcounted *)frame->object : (zend_refcounted *)frame->table);
    if (frame->table)
        zend_array_release(frame->table);
    if (frame->object)
        OBJ_RELEASE(frame->object);
}

void
ice_walk_circle(ice_walker *w, uint16_t key)
{
    if (w->purpose == ICE_FOR_EXPORT)
        zend_error(E_WARNING, "var_export does not handle circular references");
    ice_push(w->engine, w->tape, ICECORE_NULL, 0, key, 0, 0);
}

bool
ice_walk_end(ice_walker *w, ice_walk_frame *frame)
{
    /* The count of a node that was handed over is already written. */
    const bool is_right = frame->node >= w->base || frame->count == frame->total;
    if (EXPECTED(frame->node >= w->base))
        ice_end_node(w->tape, frame->node - w->base, frame->count, frame->wraps);
    ice_walk_release(frame);
    if (EXPECTED(is_right))
        return true;
    zend_throw_error(NULL, "Icecore: a method changed an object while it was serialized");
    return ice_walk_stop(w, ICE_THREW);
}

bool
ice_walk_pop(ice_walker *w)
{
    /* Releasing the frame may run a destructor, which may call this module again. */
    ice_walk_frame ended = w->ctx->walking[--w->ctx->walk_depth];
    return ice_walk_end(w, &ended);
}

void
ice_walk_drop(ice_walker *w)
{
    while (w->ctx->walk_depth) {
        ice_walk_frame open = w->ctx->walking[--w->ctx->walk_depth];
        ice_walk_release(&open);
    }
}
