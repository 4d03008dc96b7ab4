/* Builds objects that FREEZE wrote, and calls THAW.
 *
 * Sereal calls THAW when everything is built and blessed. It begins with the last object of the
 * document. So an object in another object's arguments is thawed before the other object. Until
 * an object is thawed, it is the array of its arguments. When it is thawed, all references to it
 * are changed, except for the references in its own arguments. JSON calls THAW as soon as the
 * arguments of an object are built. */
#include "core/build_leaf.h"

/* Turns an object that is not thawed into an object of thaw_args_class: an array of the
 * arguments of THAW, followed by the name of the class. */
static void
make_thaw_arguments(pTHX_ ib_builder *b, SV *rv, const icecore_node *node)
{
    const char *text;
    const icecore_name *name = ib_class_name(aTHX_ b, node, &text);
    if (!SvROK(rv) || SvTYPE(SvRV(rv)) != SVt_PVAV)
        return;
    av_push((AV *)SvRV(rv), ib_class_name_sv(aTHX_ name, text));
    sv_bless(rv, gv_stashpv(b->settings->thaw_args_class, GV_ADD));
}

void
ib_croak_no_thaw(pTHX_ ib_builder *b, HV *stash)
{
    croak("%s %" SVf "%" SVf, b->settings->no_thaw_message,
          SVfARG(ice_policy_literal(aTHX_ HvNAME_get(stash), HvNAMELEN_get(stash), cBOOL(HvNAMEUTF8(stash)))),
          SVfARG(ib_offset_suffix(aTHX_ b)));
}

/* Calls THAW with the name of the class, the name of the format and the items of the payload.
 * Returns the result: a mortal. */
static SV *
call_thaw(pTHX_ ib_builder *b, const icecore_node *node, SV *payload)
{
    HV *stash = ib_class_stash(aTHX_ b, node);
    CV *method = ice_find_method(aTHX_ stash, "THAW");
    AV *payload_list = SvROK(payload) && SvTYPE(SvRV(payload)) == SVt_PVAV ? (AV *)SvRV(payload) : NULL;
    const SSize_t count = payload_list ? AvFILLp(payload_list) + 3 : 2;
    SV *result, **arguments;
    SSize_t i;
    if (!method)
        ib_croak_no_thaw(aTHX_ b, stash);
    ENTER;
    Newx(arguments, count, SV *);
    SAVEFREEPV(arguments);
    arguments[0] = sv_2mortal(newSVhek(HvNAME_HEK(stash)));
    arguments[1] = sv_2mortal(newSVpv(b->settings->thaw_format, 0));
    /* The arguments are mortals, because THAW may have access to the array, and empty it. */
    for (i = 2; i < count; i++) {
        SV *argument = AvARRAY(payload_list)[i - 2];
        arguments[i] = argument ? sv_2mortal(SvREFCNT_inc_simple_NN(argument)) : NULL;
    }
    result = ice_call_scalar(aTHX_ (SV *)method, arguments, count);
    LEAVE;
    return result;
}

/* Assigns the result of THAW to a variable. */
static void
set_thawed(pTHX_ SV *variable, SV *result)
{
    if (SvROK(result))
        sv_setsv(variable, sv_2mortal(newRV_inc(SvRV(result))));
    else
        sv_setsv(variable, result);
}

/* ---- after everything is built ---------------------------------------------- */

bool
ib_is_thawed_at_end(ib_builder *b, const icecore_node *node)
{
    return b->settings->thaws_at_end && node->kind == ICECORE_OPAQUE && ICE_FORM_OF(node) == ICECORE_FORM_FREEZE
        && !ib_is_record(b, node);
}

void
ib_register_frozen(pTHX_ ib_builder *b, SV *variable, U32 index)
{
    ice_context *ctx = b->ctx;
    ice_frozen *frozen;
    if (ctx->frozen_count == ctx->frozen_capacity) {
        ctx->frozen_capacity = ctx->frozen_capacity ? ctx->frozen_capacity * 2 : 32;
        Renew(ctx->frozen, ctx->frozen_capacity, ice_frozen);
    }
    frozen = &ctx->frozen[ctx->frozen_count++];
    frozen->node = index;
    frozen->last_link = 0;
    frozen->variable = SvREFCNT_inc_simple_NN(variable);
}

/* Returns the frozen object of a node, or NULL, by binary search. */
static ice_frozen *
find_frozen(ice_context *ctx, U32 node)
{
    U32 low = 0, high = ctx->frozen_count;
    while (low < high) {
        const U32 middle = low + (high - low) / 2;
        if (ctx->frozen[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ctx->frozen_count && ctx->frozen[low].node == node ? &ctx->frozen[low] : NULL;
}

void
ib_register_frozen_link(pTHX_ ib_builder *b, SV *variable, U32 index, U32 target)
{
    ice_context *ctx = b->ctx;
    ice_frozen *frozen = find_frozen(ctx, target);
    ice_frozen_link *link;
    if (!frozen || index < (U32)b->view->nodes[target].payload)
        return; /* the link is in the arguments of the object itself */
    if (ctx->frozen_link_count == ctx->frozen_link_capacity) {
        ctx->frozen_link_capacity = ctx->frozen_link_capacity ? ctx->frozen_link_capacity * 2 : 32;
        Renew(ctx->frozen_links, ctx->frozen_link_capacity, ice_frozen_link);
    }
    link = &ctx->frozen_links[ctx->frozen_link_count++];
    link->variable = SvREFCNT_inc_simple_NN(variable);
    link->next = frozen->last_link;
    frozen->last_link = ctx->frozen_link_count;
}

/* Thaws an object, and changes all references to it. */
static void
thaw_object(pTHX_ ib_builder *b, const ice_frozen *frozen)
{
    const icecore_node *node = &b->view->nodes[frozen->node];
    SV *result;
    U32 link;
    if (!ib_may_thaw(aTHX_ b, node)) {
        if (b->settings->thaw_args_class)
            make_thaw_arguments(aTHX_ b, frozen->variable, node);
        return;
    }
    ENTER;
    SAVETMPS;
    result = call_thaw(aTHX_ b, node, sv_2mortal(newSVsv(frozen->variable)));
    set_thawed(aTHX_ frozen->variable, result);
    for (link = frozen->last_link; link; link = b->ctx->frozen_links[link - 1].next)
        set_thawed(aTHX_ b->ctx->frozen_links[link - 1].variable, result);
    FREETMPS;
    LEAVE;
}

void
ib_thaw_all(pTHX_ ib_builder *b)
{
    U32 i;
    ib_protect_frames(aTHX_ b);
    /* THAW may call this module again. Such a call has a context of its own, so this list does
     * not change. */
    for (i = b->ctx->frozen_count; i--;) {
        const ice_frozen frozen = b->ctx->frozen[i];
        thaw_object(aTHX_ b, &frozen);
    }
}

/* ---- as soon as the arguments are built -------------------------------------------- */

void
ib_end_frozen(pTHX_ ib_builder *b)
{
    const ice_build_frame frame = b->ctx->frames[b->ctx->depth - 1].build;
    const icecore_node *node = &b->view->nodes[frame.node];
    SV *variable = frame.sv;
    AV *children = frame.children;
    SV *payload = AvFILLp(children) >= 0 && AvARRAY(children)[0] ? AvARRAY(children)[0] : &PL_sv_undef;

    b->ctx->depth--;
    if (!ib_may_thaw(aTHX_ b, node)) {
        sv_setsv(variable, payload);
        return;
    }
    ib_protect_frames(aTHX_ b);
    ice_keep_for_call(aTHX_ b->ctx, SvREFCNT_inc_simple_NN(variable));
    ENTER;
    SAVETMPS;
    set_thawed(aTHX_ variable, call_thaw(aTHX_ b, node, payload));
    FREETMPS;
    LEAVE;
}
