/* Targets of links and aliases, and the stack of open containers. */
#include "core/build.h"

static ice_target *
target(pTHX_ ib_build *b, U32 node)
{
    ice_context *ctx = b->ctx;
    ice_target *last = ctx->target_count ? &ctx->targets[ctx->target_count - 1] : NULL;
    if (last && last->node >= node) {
        ice_target *known = ib_find_target(b, node);
        if (!known)
            croak("Icecore: named values are out of order");
        return known;
    }
    if (ctx->target_count == ctx->target_room) {
        ctx->target_room = ctx->target_room ? ctx->target_room * 2 : 32;
        Renew(ctx->targets, ctx->target_room, ice_target);
    }
    last = &ctx->targets[ctx->target_count++];
    last->node = node;
    last->variable = last->referent = NULL;
    return last;
}

ice_target *
ib_find_target(ib_build *b, U32 node)
{
    U32 low = 0, high = b->ctx->target_count;
    while (low < high) {
        U32 middle = low + (high - low) / 2;
        if (b->ctx->targets[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < b->ctx->target_count && b->ctx->targets[low].node == node ? &b->ctx->targets[low] : NULL;
}

void
ib_set_variable(pTHX_ ib_build *b, U32 node, SV *sv)
{
    ice_target *known = target(aTHX_ b, node);
    if (!known->variable)
        known->variable = SvREFCNT_inc_simple_NN(sv);
}

void
ib_set_referent(pTHX_ ib_build *b, U32 node, SV *sv)
{
    ice_target *known = target(aTHX_ b, node);
    if (!known->referent)
        known->referent = SvREFCNT_inc_simple_NN(sv);
}

void
ib_be_weak(pTHX_ ib_build *b, SV *rv)
{
    ice_context *ctx = b->ctx;
    if (ctx->weak_count == ctx->weak_room) {
        ctx->weak_room = ctx->weak_room ? ctx->weak_room * 2 : 32;
        Renew(ctx->weak, ctx->weak_room, SV *);
    }
    ctx->weak[ctx->weak_count++] = SvREFCNT_inc_simple_NN(rv);
}

/* ---- open containers --------------------------------------------------- */

/* Copies the input and holds the decoder. Strings are read from the caller's bytes, and
 * the settings belong to the decoder: foreign code may change or drop both. */
void
ib_own_input(pTHX_ ib_build *b)
{
    if (b->ctx->has_input)
        return;
    b->ctx->has_input = TRUE;
    if (b->set->owner)
        sv_2mortal(SvREFCNT_inc_simple_NN(b->set->owner)); /* needed until everything is built */
    if (b->v->input_len) {
        SV *copy = newSVpvn((const char *)b->v->input, b->v->input_len);
        ice_keep(aTHX_ b->ctx, copy);
        b->v->input = (const U8 *)SvPVX(copy);
    }
}

/* Keeps every open container alive, because foreign code is about to run. */
void
ib_pin(pTHX_ ib_build *b)
{
    U32 i;
    b->foreign = TRUE;
    ib_own_input(aTHX_ b);
    for (i = b->ctx->depth; i--;) {
        ice_build_frame *frame = &b->ctx->frames[i].build;
        if (frame->pinned)
            break;
        frame->pinned = TRUE;
        if (frame->sv)
            ice_keep(aTHX_ b->ctx, SvREFCNT_inc_simple_NN(frame->sv));
    }
}

ice_build_frame *
ib_push_frame(pTHX_ ib_build *b, U8 kind, U32 node, SV *sv)
{
    ice_build_frame *frame = &ice_push_frame(aTHX_ b->ctx)->build;
    Zero(frame, 1, ice_build_frame);
    frame->kind = kind;
    frame->node = node;
    frame->end = (U32)b->v->nodes[node].payload;
    frame->sv = sv;
    return frame;
}
