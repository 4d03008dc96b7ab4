/* Keeps the targets of links and aliases, the weak references, and the stack of open containers. */
#include "core/build.h"

/* Returns the target for a node, and adds it if it is new. The build visits nodes in ascending
 * order, so a new target always belongs at the end, and ib_find_target can use binary search. */
static ice_target *
find_or_add_target(pTHX_ ib_builder *b, U32 node)
{
    ice_context *ctx = b->ctx;
    ice_target *last = ctx->target_count ? &ctx->targets[ctx->target_count - 1] : NULL;
    if (last && last->node >= node) {
        ice_target *target = ib_find_target(b, node);
        if (!target)
            croak("Icecore: named values are out of order");
        return target;
    }
    if (ctx->target_count == ctx->target_capacity) {
        ctx->target_capacity = ctx->target_capacity ? ctx->target_capacity * 2 : 32;
        Renew(ctx->targets, ctx->target_capacity, ice_target);
    }
    last = &ctx->targets[ctx->target_count++];
    last->node = node;
    last->variable = last->referent = NULL;
    return last;
}

ice_target *
ib_find_target(ib_builder *b, U32 node)
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
ib_set_variable(pTHX_ ib_builder *b, U32 node, SV *sv)
{
    ice_target *target = find_or_add_target(aTHX_ b, node);
    if (!target->variable)
        target->variable = SvREFCNT_inc_simple_NN(sv);
}

void
ib_set_referent(pTHX_ ib_builder *b, U32 node, SV *sv)
{
    ice_target *target = find_or_add_target(aTHX_ b, node);
    if (!target->referent)
        target->referent = SvREFCNT_inc_simple_NN(sv);
}

void
ib_weaken_later(pTHX_ ib_builder *b, SV *rv)
{
    ice_context *ctx = b->ctx;
    if (ctx->weak_count == ctx->weak_capacity) {
        ctx->weak_capacity = ctx->weak_capacity ? ctx->weak_capacity * 2 : 32;
        Renew(ctx->weak, ctx->weak_capacity, SV *);
    }
    ctx->weak[ctx->weak_count++] = SvREFCNT_inc_simple_NN(rv);
}

/* ---- open containers --------------------------------------------------- */

/* Copies the input and keeps the decoder alive, because perl code is about to run. This code may
 * change the caller's bytes, and strings are still read from them. It may also free the decoder,
 * and with it the settings. */
void
ib_copy_input(pTHX_ ib_builder *b)
{
    if (b->ctx->owns_input)
        return;
    b->ctx->owns_input = TRUE;
    if (b->settings->owner)
        sv_2mortal(SvREFCNT_inc_simple_NN(b->settings->owner)); /* until everything is built */
    if (b->view->input_len) {
        SV *copy = newSVpvn((const char *)b->view->input, b->view->input_len);
        ice_keep_for_call(aTHX_ b->ctx, copy);
        b->view->input = (const U8 *)SvPVX(copy);
    }
}

/* Keeps the input and every open container alive, because perl code is about to run. */
void
ib_protect_frames(pTHX_ ib_builder *b)
{
    U32 i;
    b->foreign_code_ran = TRUE;
    ib_copy_input(aTHX_ b);
    for (i = b->ctx->depth; i--;) {
        ice_build_frame *frame = &b->ctx->frames[i].build;
        if (frame->is_protected)
            break; /* the frames below were protected with it */
        frame->is_protected = TRUE;
        if (frame->sv)
            ice_keep_for_call(aTHX_ b->ctx, SvREFCNT_inc_simple_NN(frame->sv));
    }
}

ice_build_frame *
ib_push_frame(pTHX_ ib_builder *b, U8 kind, U32 node, SV *sv)
{
    ice_build_frame *frame = &ice_push_frame(aTHX_ b->ctx)->build;
    Zero(frame, 1, ice_build_frame);
    frame->kind = kind;
    frame->node = node;
    frame->end = (U32)b->view->nodes[node].payload;
    frame->sv = sv;
    return frame;
}
