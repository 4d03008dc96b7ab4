/* Objects that FREEZE wrote, and calls of THAW.
 *
 * Sereal calls THAW when everything is built and blessed, the last object of the
 * document first, so that an object in the arguments of another one is thawed before
 * that one. Until then an object is the array of its arguments. References to an object
 * are changed together with it, except those in its own arguments. JSON calls THAW at
 * the end of the arguments. */
#include "core/build_leaf.h"

/* Appends the class to the arguments of THAW, and blesses them into the class that marks
 * them. */
static void
be_arguments(pTHX_ ib_build *b, SV *rv, const icecore_node *node)
{
    const char *text;
    const icecore_name *name = ib_class_name(aTHX_ b, node, &text);
    if (!SvROK(rv) || SvTYPE(SvRV(rv)) != SVt_PVAV)
        return;
    av_push((AV *)SvRV(rv), ib_class_sv(aTHX_ name, text));
    sv_bless(rv, gv_stashpv(b->set->args_class, GV_ADD));
}

void
ib_no_thaw(pTHX_ ib_build *b, HV *stash)
{
    croak("%s %" SVf "%" SVf, b->set->no_method,
          SVfARG(ice_policy_literal(aTHX_ HvNAME_get(stash), HvNAMELEN_get(stash), cBOOL(HvNAMEUTF8(stash)))),
          SVfARG(ib_end_of_input(aTHX_ b)));
}

/* Calls THAW of the class with a payload and returns the result: a mortal. */
static SV *
call_thaw(pTHX_ ib_build *b, const icecore_node *node, SV *payload)
{
    HV *stash = ib_stash_of(aTHX_ b, node);
    CV *method = ice_method(aTHX_ stash, "THAW");
    AV *given = SvROK(payload) && SvTYPE(SvRV(payload)) == SVt_PVAV ? (AV *)SvRV(payload) : NULL;
    const SSize_t count = given ? AvFILLp(given) + 3 : 2;
    SV *result, **arguments;
    SSize_t i;
    if (!method)
        ib_no_thaw(aTHX_ b, stash);
    ENTER;
    Newx(arguments, count, SV *);
    SAVEFREEPV(arguments);
    arguments[0] = sv_2mortal(newSVhek(HvNAME_HEK(stash)));
    arguments[1] = sv_2mortal(newSVpv(b->set->thaws_for, 0));
    /* THAW may have access to the array, and empty it. */
    for (i = 2; i < count; i++) {
        SV *argument = AvARRAY(given)[i - 2];
        arguments[i] = argument ? sv_2mortal(SvREFCNT_inc_simple_NN(argument)) : NULL;
    }
    result = ice_call_scalar(aTHX_ (SV *)method, arguments, count);
    LEAVE;
    return result;
}

/* Puts the result of THAW into a variable. */
static void
put_thawed(pTHX_ SV *variable, SV *result)
{
    if (SvROK(result))
        sv_setsv(variable, sv_2mortal(newRV_inc(SvRV(result))));
    else
        sv_setsv(variable, result);
}

/* ---- after everything is built ---------------------------------------------- */

bool
ib_is_thawed_last(ib_build *b, const icecore_node *node)
{
    return b->set->thaws_last && node->kind == ICECORE_OPAQUE && ICE_FORM_OF(node) == ICECORE_FORM_FREEZE
           && !ib_is_record(b, node);
}

void
ib_freeze(pTHX_ ib_build *b, SV *variable, U32 at)
{
    ice_context *ctx = b->ctx;
    ice_frozen *frozen;
    if (ctx->frozen_count == ctx->frozen_room) {
        ctx->frozen_room = ctx->frozen_room ? ctx->frozen_room * 2 : 32;
        Renew(ctx->frozen, ctx->frozen_room, ice_frozen);
    }
    frozen = &ctx->frozen[ctx->frozen_count++];
    frozen->node = at;
    frozen->links = 0;
    frozen->variable = SvREFCNT_inc_simple_NN(variable);
}

/* Nodes are sorted. */
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
ib_frozen_link(pTHX_ ib_build *b, SV *variable, U32 at, U32 to)
{
    ice_context *ctx = b->ctx;
    ice_frozen *frozen = find_frozen(ctx, to);
    ice_frozen_link *link;
    if (!frozen || at < (U32)b->v->nodes[to].payload)
        return;
    if (ctx->link_count == ctx->link_room) {
        ctx->link_room = ctx->link_room ? ctx->link_room * 2 : 32;
        Renew(ctx->links, ctx->link_room, ice_frozen_link);
    }
    link = &ctx->links[ctx->link_count++];
    link->variable = SvREFCNT_inc_simple_NN(variable);
    link->next = frozen->links;
    frozen->links = ctx->link_count;
}

static void
thaw(pTHX_ ib_build *b, const ice_frozen *frozen)
{
    const icecore_node *node = &b->v->nodes[frozen->node];
    SV *result;
    U32 link;
    if (!ib_is_thawed(aTHX_ b, node)) {
        if (b->set->args_class)
            be_arguments(aTHX_ b, frozen->variable, node);
        return;
    }
    ENTER;
    SAVETMPS;
    result = call_thaw(aTHX_ b, node, sv_2mortal(newSVsv(frozen->variable)));
    put_thawed(aTHX_ frozen->variable, result);
    for (link = frozen->links; link; link = b->ctx->links[link - 1].next)
        put_thawed(aTHX_ b->ctx->links[link - 1].variable, result);
    FREETMPS;
    LEAVE;
}

void
ib_thaw_all(pTHX_ ib_build *b)
{
    U32 i;
    ib_pin(aTHX_ b);
    for (i = b->ctx->frozen_count; i--;) {
        const ice_frozen frozen = b->ctx->frozen[i];
        thaw(aTHX_ b, &frozen);
    }
}

/* ---- at the end of the arguments -------------------------------------------- */

void
ib_end_freeze(pTHX_ ib_build *b)
{
    const ice_build_frame frame = b->ctx->frames[b->ctx->depth - 1].build;
    const icecore_node *node = &b->v->nodes[frame.node];
    SV *variable = frame.sv;
    SV *payload = AvFILLp(frame.list) >= 0 && AvARRAY(frame.list)[0] ? AvARRAY(frame.list)[0] : &PL_sv_undef;

    b->ctx->depth--;
    if (!ib_is_thawed(aTHX_ b, node)) {
        sv_setsv(variable, payload);
        return;
    }
    ib_pin(aTHX_ b);
    ice_keep(aTHX_ b->ctx, SvREFCNT_inc_simple_NN(variable));
    ENTER;
    SAVETMPS;
    put_thawed(aTHX_ variable, call_thaw(aTHX_ b, node, payload));
    FREETMPS;
    LEAVE;
}
