/* Builds perl values from the engine's tape.
 *
 * One loop over the nodes with a stack of its own. Every value is attached to the root
 * as soon as it is created, so that nothing leaks when a hook dies.
 *
 * Hooks may run any code, and it can change or free what is being built. After the first
 * hook, open containers are kept alive and are filled through perl's own interface. */
#include "core/build_entries.h"
#include "core/build_leaf.h"

/* ---- attaching values -------------------------------------------------- */

/* Locks the value of a locked key. An incomplete value is locked together with its hash,
 * because read-only values can't be filled, tied or blessed. */
static void
lock_value(pTHX_ ib_build *b, const ice_build_frame *frame, U32 at, SV *value)
{
    if (is_leaf(&b->v->nodes[at]) || !frame->list)
        SvREADONLY_on(value);
    else
        av_push(frame->list, SvREFCNT_inc_simple_NN(value));
}

static void
lock_values(AV *list)
{
    SSize_t i;
    for (i = 0; i <= AvFILLp(list); i++)
        SvREADONLY_on(AvARRAY(list)[i]);
}

/* Puts the value of the node `at` into the open container. */
static void
attach(pTHX_ ib_build *b, U32 at, SV *value)
{
    ice_context *ctx = b->ctx;
    ice_build_frame *frame;
    const icecore_node *node = &b->v->nodes[at];

    if (ctx->depth == 0) {
        SvREFCNT_dec(ctx->root);
        ctx->root = value;
        return;
    }
    frame = &ctx->frames[ctx->depth - 1].build;
    switch (frame->kind) {
    case IB_ARRAY: {
        AV *av = (AV *)frame->sv;
        SSize_t index = frame->at++;
        if (LIKELY(!b->foreign && index <= AvMAX(av))) {
            AvARRAY(av)[index] = value;
            AvFILLp(av) = index;
        } else if (value && !av_store(av, index, value))
            SvREFCNT_dec(value);
        return;
    }
    case IB_MAP: {
        HV *hv = (HV *)frame->sv;
        if (node->key == ICECORE_KEY_NODE) {
            const icecore_node *key = &b->v->nodes[frame->key];
            if (key->flags & ICECORE_FLAG_PLACEHOLDER) {
                STRLEN len;
                const char *text = ice_bytes_of(b->v, key, &len);
                SvREFCNT_dec(value);
                ib_store_placeholder(aTHX_ hv, text, len, key->kind == ICECORE_TEXT);
                return;
            }
            if (key->flags & ICECORE_FLAG_LOCKED)
                lock_value(aTHX_ b, frame, at, value);
            ib_store_by_node(aTHX_ b, hv, frame->key, value);
        } else {
            SV *key = ice_key_sv(aTHX_ ctx, b->v, node->key);
            const U8 flags = b->v->keys.names[node->key - 1].node.flags;
            if (UNLIKELY(flags & ICECORE_FLAG_PLACEHOLDER)) {
                SvREFCNT_dec(value);
                ib_store_placeholder(aTHX_ hv, SvPVX_const(key), SvCUR(key), cBOOL(SvUTF8(key)));
                return;
            }
            if (UNLIKELY(flags & ICECORE_FLAG_LOCKED))
                lock_value(aTHX_ b, frame, at, value);
            if (UNLIKELY(b->foreign))
                ib_store_by_sv(aTHX_ ctx, hv, key, value);
            else
                ib_store_entry(aTHX_ ctx, hv, key, value);
        }
        return;
    }
    case IB_OPAQUE_HOOK:
        /* Payload, inner objects, links, body. */
        av_push(frame->list, value);
        return;
    case IB_FIELDS:
        if (node->key == ICECORE_KEY_NODE)
            av_push(frame->list, ib_new_string(aTHX_ b, &b->v->nodes[frame->key]));
        else
            av_push(frame->list, newSVsv(ice_key_sv(aTHX_ ctx, b->v, node->key)));
        av_push(frame->list, value ? value : newSV(0));
        return;
    case IB_RECORD:
    case IB_OPAQUE_FREEZE:
    case IB_TIED:
        av_push(frame->list, value ? value : newSV(0));
        return;
    default:
        SvREFCNT_dec(value);
    }
}

/* Returns the variable of the root: the caller's variable, if something in the document
 * refers to the root. Otherwise the caller copies the result. */
static SV *
root_variable(pTHX_ ib_build *b, const icecore_node *node)
{
    SV *into = b->set->into;
    if (!into || !(node->flags & ICECORE_FLAG_TARGET) || SvGMAGICAL(into) || SvSMAGICAL(into) || SvREADONLY(into) || SvTYPE(into) > SVt_PVMG)
        return newSV_type(SVt_IV);
    sv_setsv(into, &PL_sv_undef);
    if (SvTYPE(into) < SVt_PV) {
        if (SvTYPE(into) != SVt_IV)
            sv_upgrade(into, SVt_IV);
    } else {
        SvPV_free(into);
        SvPV_set(into, NULL);
        SvCUR_set(into, 0);
        SvLEN_set(into, 0);
    }
    return SvREFCNT_inc_simple_NN(into);
}

/* Returns perl's immortal value that a reference to this node refers to, if there is
 * one. */
static SV *
own_referent(pTHX_ ib_build *b, const icecore_node *node)
{
    if (node->kind == ICECORE_NULL && b->set->undef_own && !(node->flags & ICECORE_FLAG_TARGET))
        return &PL_sv_undef;
    return ib_immortal(aTHX_ b, node);
}

/* ---- values of nodes --------------------------------------------------- */

/* A value that is being put into a variable. */
typedef struct {
    U32 at;       /* its node */
    U32 object;   /* the object node before it; ICECORE_NONE: none */
    SV *slot;     /* the variable that the value is in */
    SV *variable; /* the innermost variable so far */
} step;

static void
build_leaf(pTHX_ ib_build *b)
{
    const U32 at = b->at;
    const icecore_node *node = &b->v->nodes[at];
    SV *sv = UNLIKELY(b->shares) ? ib_new_shared_leaf(aTHX_ b, node) : new_leaf(aTHX_ b, node);
    if (!sv && node->flags & ICECORE_FLAG_TARGET)
        sv = newSV(0);
    if (sv && node->flags & ICECORE_FLAG_TARGET)
        ib_set_variable(aTHX_ b, at, sv);
    if (!sv && (b->ctx->depth == 0 || b->ctx->frames[b->ctx->depth - 1].build.kind != IB_ARRAY))
        sv = newSV(0);
    attach(aTHX_ b, at, sv);
    b->at = at + 1;
}

/* Returns the variable that an alias refers to, with one more reference. */
static SV *
aliased(pTHX_ ib_build *b, const icecore_node *node)
{
    ice_target *known = ib_find_target(b, (U32)node->payload);
    if (!known || !known->variable)
        croak("Icecore: an alias of something that is not a variable");
    return SvREFCNT_inc_simple_NN(known->variable);
}

/* Puts a leaf into an existing variable. */
static void
fill_variable(pTHX_ ib_build *b, SV *variable, const icecore_node *node)
{
    SV *sv = SvIMMORTAL(variable) ? NULL : new_leaf(aTHX_ b, node);
    if (sv) {
        sv_setsv_flags(variable, sv, SV_NOSTEAL);
        SvREFCNT_dec(sv);
    }
}

/* Builds an object. Returns whether its contents were begun; otherwise they come next. */
static bool
build_object(pTHX_ ib_build *b, step *s)
{
    const icecore_node *nodes = b->v->nodes, *node = &nodes[s->at];
    if (ib_is_record(b, node)) {
        ib_record(aTHX_ b, s->at, s->variable);
        return TRUE;
    }
    if (ICE_FORM_OF(node) == ICECORE_FORM_VARIABLE) {
        ib_be_object(aTHX_ b, sv_2mortal(newRV_inc(s->variable)), s->at);
        s->at++;
        return FALSE;
    }
    if (b->set->bless_ok && ib_fields(aTHX_ b, s->variable, s->at))
        return TRUE;
    s->object = s->at++;
    if (!ib_is_reference_kind(nodes[s->at].kind)) {
        /* A scalar that was read without the reference to it. */
        SV *scalar = newSV(0);
        ib_set_rv(aTHX_ s->variable, scalar);
        ib_be_object(aTHX_ b, s->variable, s->object);
        if (node->flags & ICECORE_FLAG_TARGET)
            ib_set_referent(aTHX_ b, s->object, scalar);
        s->object = ICECORE_NONE;
        s->variable = scalar;
    }
    return FALSE;
}

/* Replaces the referent of a new reference. */
static void
refer_to(pTHX_ ib_build *b, SV *variable, SV *referent, U32 object)
{
    SV *old = SvRV(variable);
    SvRV_set(variable, referent);
    SvREFCNT_dec(old);
    if (object != ICECORE_NONE)
        ib_be_object(aTHX_ b, variable, object);
}

/* Builds a reference to a variable. Returns whether it is complete; otherwise the value
 * of the variable comes next. */
static bool
build_ref(pTHX_ ib_build *b, step *s)
{
    const icecore_node *nodes = b->v->nodes, *node = &nodes[s->at], *inner = node + 1;
    const U32 object = s->object;
    SV *variable = s->variable, *referent = object == ICECORE_NONE ? own_referent(aTHX_ b, inner) : NULL;
    if (!referent)
        referent = newSV(0);
    ib_set_rv(aTHX_ variable, referent);
    if (object != ICECORE_NONE) {
        ib_be_object(aTHX_ b, variable, object);
        if (nodes[object].flags & ICECORE_FLAG_TARGET)
            ib_set_referent(aTHX_ b, object, referent);
        if (nodes[object].flags & ICECORE_FLAG_WEAK)
            ib_be_weak(aTHX_ b, variable);
        s->object = ICECORE_NONE;
    }
    if (node->flags & ICECORE_FLAG_TARGET)
        ib_set_referent(aTHX_ b, s->at, referent);
    if (node->flags & ICECORE_FLAG_WEAK)
        ib_be_weak(aTHX_ b, variable);
    s->at++;
    b->at = s->at + 1;
    if (inner->kind == ICECORE_ALIAS) {
        refer_to(aTHX_ b, variable, aliased(aTHX_ b, inner), object);
        return TRUE;
    }
    if (inner->kind == ICECORE_MODULE && ICE_FORM_OF(inner) == ICECORE_FORM_VARIABLE) {
        refer_to(aTHX_ b, variable, SvREFCNT_inc_simple_NN((SV *)ib_glob(aTHX_ b, inner)), ICECORE_NONE);
        return TRUE;
    }
    s->variable = referent;
    if (!is_leaf(inner))
        return FALSE;
    fill_variable(aTHX_ b, referent, inner);
    if (inner->flags & ICECORE_FLAG_TARGET)
        ib_set_variable(aTHX_ b, s->at, referent);
    return TRUE;
}

/* Builds a reference to an earlier value. */
static void
build_link(pTHX_ ib_build *b, const step *s)
{
    const icecore_node *nodes = b->v->nodes, *node = &nodes[s->at];
    ice_target *known = ib_find_target(b, (U32)node->payload);
    if (!known || !(known->referent || known->variable))
        croak("Icecore: a link to a value that does not exist");
    ib_set_rv(aTHX_ s->variable, SvREFCNT_inc_simple_NN(known->referent ? known->referent : known->variable));
    if (s->object != ICECORE_NONE) {
        ib_be_object(aTHX_ b, s->variable, s->object);
        if (nodes[s->object].kind == ICECORE_OPAQUE && nodes[s->object].flags & ICECORE_FLAG_TARGET)
            ib_set_referent(aTHX_ b, s->object, SvRV(s->variable));
    }
    if (ib_is_thawed_last(b, &nodes[known->node]))
        ib_frozen_link(aTHX_ b, s->variable, s->at, known->node);
    if (node->flags & ICECORE_FLAG_WEAK || (s->object != ICECORE_NONE && nodes[s->object].flags & ICECORE_FLAG_WEAK))
        ib_be_weak(aTHX_ b, s->variable);
    b->at = s->at + 1;
}

static void
build_array(pTHX_ ib_build *b, const step *s)
{
    const icecore_node *node = &b->v->nodes[s->at];
    const U32 end = (U32)node->payload, count = node->aux;
    AV *av = newAV();
    b->at = end;
    ib_set_rv(aTHX_ s->variable, (SV *)av);
    ib_container_refs(aTHX_ b, s->variable, (SV *)av, s->at, s->object);
    if (count) {
        U32 next;
        av_extend(av, (SSize_t)count - 1);
        next = UNLIKELY(b->shares) ? s->at + 1 : ib_fill_array(aTHX_ b, av, s->at + 1, end);
        if (next < end) {
            ib_push_frame(aTHX_ b, IB_ARRAY, s->at, (SV *)av)->at = AvFILLp(av) + 1;
            b->at = next;
        }
    }
}

static void
build_hash(pTHX_ ib_build *b, const step *s)
{
    const icecore_node *node = &b->v->nodes[s->at];
    const U32 end = (U32)node->payload;
    const bool is_restricted = (node->flags & ICECORE_FLAG_RESTRICTED) != 0;
    HV *hv = ib_new_hash(aTHX_ node->aux);
    /* perl drops keys without a value when it adds buckets. */
    if (UNLIKELY(is_restricted))
        hv_ksplit(hv, node->aux + 1);
    ib_set_rv(aTHX_ s->variable, (SV *)hv);
    ib_container_refs(aTHX_ b, s->variable, (SV *)hv, s->at, s->object);
    b->at = is_restricted || UNLIKELY(b->shares) ? s->at + 1 : ib_fill_hash(aTHX_ b, hv, s->at + 1, end);
    if (b->at < end || is_restricted || b->set->filters) {
        ice_build_frame *frame = ib_push_frame(aTHX_ b, IB_MAP, s->at, (SV *)hv);
        frame->variable = s->slot;
        if (is_restricted)
            frame->list = ib_parts(aTHX_ b);
    }
}

/* Builds the value at b->at, attaches it, and moves b->at after it, or into it. */
static void
value(pTHX_ ib_build *b)
{
    const icecore_node *nodes = b->v->nodes, *node = &nodes[b->at];
    step s = { b->at, ICECORE_NONE, NULL, NULL };

    if (is_leaf(node)) {
        build_leaf(aTHX_ b);
        return;
    }
    if (node->kind == ICECORE_ALIAS) {
        attach(aTHX_ b, b->at, aliased(aTHX_ b, node));
        b->at++;
        return;
    }
    /* Every other value is a reference in a variable, unless it is bare. */
    s.slot = s.variable = UNLIKELY(b->ctx->depth == 0) ? root_variable(aTHX_ b, node) : newSV_type(SVt_IV);
    attach(aTHX_ b, s.at, s.slot);
    for (;;) {
        node = &nodes[s.at];
        /* The variable that links and aliases to this node refer to. */
        if (node->flags & ICECORE_FLAG_TARGET)
            ib_set_variable(aTHX_ b, s.at, s.variable);
        switch (node->kind) {
        case ICECORE_ATTRS:
            s.at++;
            continue;
        case ICECORE_OBJECT:
            if (build_object(aTHX_ b, &s))
                return;
            continue;
        case ICECORE_REF:
            if (build_ref(aTHX_ b, &s))
                return;
            continue;
        case ICECORE_LINK:
            build_link(aTHX_ b, &s);
            return;
        case ICECORE_ARRAY:
            build_array(aTHX_ b, &s);
            return;
        case ICECORE_MAP:
            build_hash(aTHX_ b, &s);
            return;
        case ICECORE_REGEXP:
            ib_regexp(aTHX_ b, s.variable, s.at, s.object);
            return;
        case ICECORE_CODE:
            ib_code(aTHX_ b, s.variable, s.at, s.object);
            return;
        case ICECORE_VSTRING:
            ib_vstring(aTHX_ b, s.variable, s.at);
            return;
        case ICECORE_TIED:
            ib_tied(aTHX_ b, s.variable, s.at, s.object);
            return;
        case ICECORE_OPAQUE:
            if (ib_is_thawed_last(b, node)) {
                ib_freeze(aTHX_ b, s.variable, s.at);
                if (node->flags & ICECORE_FLAG_WEAK)
                    ib_be_weak(aTHX_ b, s.variable);
                /* Until it is thawed, the object is its payload: links to one lead to
                 * the other. */
                s.object = node[1].kind == ICECORE_ARRAY || node[1].kind == ICECORE_LINK ? s.at : ICECORE_NONE;
                s.at++;
                continue;
            }
            ib_opaque(aTHX_ b, s.variable, s.at);
            return;
        default:
            if (!is_leaf(node))
                croak("Icecore: a value of an unknown kind");
            fill_variable(aTHX_ b, s.variable, node);
            b->at = s.at + 1;
            return;
        }
    }
}

/* Passes a complete hash to the filters. */
static void
filter(pTHX_ ib_build *b, const ice_build_frame *frame)
{
    const ice_filters *filters = b->set->filters;
    const ice_json *json = b->set->json;
    if (!filters->is_filtered(aTHX_ json, (HV *)frame->sv, b->v->nodes[frame->node].aux))
        return;
    ib_pin(aTHX_ b);
    ice_keep(aTHX_ b->ctx, SvREFCNT_inc_simple_NN(frame->sv));
    ice_keep(aTHX_ b->ctx, SvREFCNT_inc_simple_NN(frame->variable));
    filters->filter(aTHX_ json, (HV *)frame->sv, frame->variable);
}

/* Closes the open container, which is complete. */
static void
close_frame(pTHX_ ib_build *b)
{
    ice_context *ctx = b->ctx;
    const ice_build_frame frame = ctx->frames[ctx->depth - 1].build;
    b->at = frame.end;
    switch (frame.kind) {
    case IB_ARRAY:
        ctx->depth--;
        if (AvFILLp((AV *)frame.sv) < frame.at - 1 && !SvREADONLY(frame.sv))
            av_fill((AV *)frame.sv, frame.at - 1);
        break;
    case IB_MAP:
        ctx->depth--;
        if (frame.list) {
            lock_values(frame.list);
            SvREADONLY_on(frame.sv);
        }
        if (UNLIKELY(b->set->filters != NULL))
            filter(aTHX_ b, &frame);
        break;
    case IB_OPAQUE_HOOK:
        ib_end_hook(aTHX_ b);
        break;
    case IB_OPAQUE_FREEZE:
        ib_end_freeze(aTHX_ b);
        break;
    case IB_TIED:
        ib_end_tied(aTHX_ b);
        break;
    case IB_RECORD:
        ib_end_record(aTHX_ b);
        break;
    case IB_FIELDS:
        ib_end_fields(aTHX_ b);
        break;
    default:
        ctx->depth--;
    }
}

/* Makes everything that a variable holds read-only; unless `all`, only scalars that are
 * not references. */
static void
make_readonly(pTHX_ ice_context *ctx, SV *root, bool all)
{
    AV *todo = (AV *)sv_2mortal((SV *)newAV());
    if (ctx->seen.count)
        ice_map_clear(&ctx->seen);
    av_push(todo, SvREFCNT_inc_simple_NN(root));
    while (AvFILLp(todo) >= 0) {
        SV *sv = sv_2mortal(av_pop(todo));
        /* A weak reference may lead back to a value that has only one strong reference. */
        if (SvREFCNT(sv) > 2 || SvROK(sv) || SvTYPE(sv) >= SVt_PVAV) {
            if (ice_map_find(&ctx->seen, sv))
                continue;
            ice_map_add(&ctx->seen, sv, 0);
        }
        if (SvTYPE(sv) == SVt_PVAV || SvTYPE(sv) == SVt_PVHV) {
            /* Values that THAW returned are not ours. */
            if ((SvRMAGICAL(sv) && mg_find(sv, PERL_MAGIC_tied))
                || (SvOBJECT(sv) && ice_method(aTHX_ SvSTASH(sv), "THAW")))
                continue;
            if (SvTYPE(sv) == SVt_PVAV) {
                SSize_t i;
                for (i = 0; i <= AvFILLp((AV *)sv); i++)
                    if (AvARRAY((AV *)sv)[i])
                        av_push(todo, SvREFCNT_inc_simple_NN(AvARRAY((AV *)sv)[i]));
            } else {
                HV *hv = (HV *)sv;
                U32 i;
                HE *he;
                for (i = 0; HvARRAY(hv) && i <= (U32)HvMAX(hv); i++)
                    for (he = HvARRAY(hv)[i]; he; he = HeNEXT(he))
                        av_push(todo, SvREFCNT_inc_simple_NN(HeVAL(he)));
            }
            if (all)
                SvREADONLY_on(sv);
        } else if (SvTYPE(sv) < SVt_PVAV) {
            if (SvROK(sv))
                av_push(todo, SvREFCNT_inc_simple_NN(SvRV(sv)));
            if (all || !SvROK(sv))
                SvREADONLY_on(sv);
        }
    }
}

SV *
ice_build(pTHX_ ice_context *ctx, icecore_view *view, U32 root, const ice_read_settings *settings)
{
    ib_build b;
    U32 i;
    SV *result;

    b.ctx = ctx;
    b.v = view;
    b.set = settings;
    b.at = root;
    b.no = settings->no ? settings->no : &PL_sv_no;
    b.yes = settings->yes ? settings->yes : &PL_sv_yes;
    b.foreign = FALSE;
    b.shares = settings->undef_own || settings->alias_under || settings->numbers || TAINT_get;
    ice_keys_of(aTHX_ ctx, view->keys.generation);
    if (root >= view->node_count)
        return newSV(0);
    if (b.shares || settings->filters || !ib_fast(aTHX_ & b, root)) {
        ib_check_classes(aTHX_ & b, root);
        ib_check_ahead(aTHX_ & b, root);
        value(aTHX_ & b);
    }
    while (ctx->depth) {
        ice_build_frame *frame = &ctx->frames[ctx->depth - 1].build;
        const icecore_node *node;
        if (b.at >= frame->end) {
            close_frame(aTHX_ & b);
            continue;
        }
        node = &view->nodes[b.at];
        if (node->key == ICECORE_IS_KEY) {
            frame->key = b.at;
            b.at = ice_next(b.v, b.at);
            continue;
        }
        if (!b.foreign && !b.shares) {
            if (frame->kind == IB_ARRAY && is_leaf(node)) {
                U32 next = ib_fill_array(aTHX_ & b, (AV *)frame->sv, b.at, frame->end);
                if (next != b.at) {
                    frame->at = AvFILLp((AV *)frame->sv) + 1;
                    b.at = next;
                    continue;
                }
            } else if (frame->kind == IB_MAP && is_leaf(node)) {
                U32 next = ib_fill_hash(aTHX_ & b, (HV *)frame->sv, b.at, frame->end);
                if (next != b.at) {
                    b.at = next;
                    continue;
                }
            }
        }
        value(aTHX_ & b);
    }
    if (UNLIKELY(ctx->frozen_count)) {
        ib_thaw_all(aTHX_ & b);
        ice_forget_frozen(aTHX_ ctx);
    }
    for (i = 0; i < ctx->weak_count; i++) {
        SV *rv = ctx->weak[i];
        if (SvROK(rv) && !SvWEAKREF(rv))
            sv_rvweaken(rv);
        SvREFCNT_dec(rv);
    }
    ctx->weak_count = 0;
    result = ctx->root;
    ctx->root = NULL;
    if (settings->readonly || settings->readonly_scalars)
        make_readonly(aTHX_ ctx, result, settings->readonly);
    return result;
}
