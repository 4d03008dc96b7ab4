/* Room on the tape that is filled. */
#include "core/walk.h"

void
iw_more_nodes(pTHX_ walk *w)
{
    /* At least twice as many, and enough for a small hash. */
    if (icecore_grow_nodes(w->ctx->engine, w->t, w->t->node_count + 64) != ICECORE_OK)
        croak("Icecore: too many values, or not enough memory");
}

void
iw_more_arena(pTHX_ walk *w, STRLEN len)
{
    if (icecore_grow_arena(w->ctx->engine, w->t, w->t->arena_len + len) != ICECORE_OK)
        croak("Icecore: not enough memory");
}

void
iw_push_long_string(pTHX_ walk *w, U8 kind, U8 flags, U16 key, U64 offset, STRLEN len)
{
    U32 at = push(aTHX_ w, kind, flags, key, 0, 0);
    icecore_node *node = &w->t->nodes[at];
    if (icecore_long_string(w->ctx->engine, kind, offset, len, node) != ICECORE_OK)
        croak("Icecore: a string is too long");
    node->flags = flags;
    node->key = key;
}

void
iw_begin(pTHX_ walk *w)
{
    if (icecore_begin(w->ctx->engine, w->t) != ICECORE_OK)
        croak("Icecore: not enough memory");
    ice_keys_check(aTHX_ w->ctx, w->t->key_generation);
    w->parts = 0;
}

void
iw_finish(pTHX_ walk *w)
{
    if (w->t->arena_capacity - w->t->arena_len < SLACK)
        iw_more_arena(aTHX_ w, SLACK);
    Zero(w->t->arena + w->t->arena_len, SLACK, U8);
    w->t->arena_len += SLACK;
}
