/* The engine's tape to perl values.
 *
 * One loop over the nodes with a stack of its own. Everything that is built
 * hangs on the root from the start, so that nothing leaks when a hook dies.
 *
 * Hooks may run any code, which may change or free what is being built. From the
 * first hook on, containers that are open are kept alive and are filled through
 * perl's own interface. */
#include "build_entries.h"
#include "build_leaf.h"
#include "json.h"

/* ---- targets ----------------------------------------------------------- */

static ice_target *
ib_target(pTHX_ build *b, U32 node)
{
    ice_context *ctx = b->ctx;
    ice_target *last = ctx->target_count ? &ctx->targets[ctx->target_count - 1] : NULL;
    if (last && last->node >= node) {
        ice_target *known = ib_find_target(b, node);
        if (!known)
            croak("Icecore: values that are named are out of order");
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
ib_find_target(build *b, U32 node)
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
ib_set_variable(pTHX_ build *b, U32 node, SV *sv)
{
    ice_target *known = ib_target(aTHX_ b, node);
    if (!known->variable)
        known->variable = SvREFCNT_inc_simple_NN(sv);
}

void
ib_set_referent(pTHX_ build *b, U32 node, SV *sv)
{
    ice_target *known = ib_target(aTHX_ b, node);
    if (!known->referent)
        known->referent = SvREFCNT_inc_simple_NN(sv);
}

void
ib_be_weak(pTHX_ build *b, SV *rv)
{
    ice_context *ctx = b->ctx;
    if (ctx->weak_count == ctx->weak_room) {
        ctx->weak_room = ctx->weak_room ? ctx->weak_room * 2 : 32;
        Renew(ctx->weak, ctx->weak_room, SV *);
    }
    ctx->weak[ctx->weak_count++] = SvREFCNT_inc_simple_NN(rv);
}

/* ---- containers -------------------------------------------------------- */

/* Strings are read from the caller's bytes, and the settings are the decoder's:
 * foreign code may change or drop both. */
void
ib_own_input(pTHX_ build *b)
{
    if (b->ctx->has_input)
        return;
    b->ctx->has_input = TRUE;
    if (b->set->owner)
        sv_2mortal(SvREFCNT_inc_simple_NN(b->set->owner)); /* it is needed when all is built */
    if (b->v->input_len) {
        SV *copy = newSVpvn((const char *)b->v->input, b->v->input_len);
        ice_keep(aTHX_ b->ctx, copy);
        b->v->input = (const U8 *)SvPVX(copy);
    }
}

/* Keeps every open container alive: foreign code is about to run. */
void
ib_pin(pTHX_ build *b)
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

/* ---- where a value goes ------------------------------------------------ */

ice_build_frame *
ib_push_frame(pTHX_ build *b, U8 kind, U32 node, SV *sv)
{
    ice_build_frame *frame = &ice_push_frame(aTHX_ b->ctx)->build;
    Zero(frame, 1, ice_build_frame);
    frame->kind = kind;
    frame->node = node;
    frame->end = (U32)b->v->nodes[node].payload;
    frame->sv = sv;
    return frame;
}

/* The value of a key that is locked. One that is not complete is locked together
 * with its hash: what is read-only can't be filled, tied or blessed. */
static void
lock_value(pTHX_ build *b, const ice_build_frame *frame, U32 at, SV *value)
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

/* Puts the value of the node `at` into the container that is open. */
static void
attach(pTHX_ build *b, U32 at, SV *value)
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
    case ARRAY: {
        AV *av = (AV *)frame->sv;
        SSize_t index = frame->at++;
        if (LIKELY(!b->foreign && index <= AvMAX(av))) {
            AvARRAY(av)[index] = value;
            AvFILLp(av) = index;
        } else if (value && !av_store(av, index, value))
            SvREFCNT_dec(value);
        return;
    }
    case MAP: {
        HV *hv = (HV *)frame->sv;
        if (node->key == ICECORE_KEY_NODE) {
            const icecore_node *key = &b->v->nodes[frame->key];
            if (key->flags & ICECORE_BIT_5) {
                STRLEN len;
                const char *text = ib_bytes_of(aTHX_ b, key, &len);
                SvREFCNT_dec(value);
                ib_store_placeholder(aTHX_ hv, text, len, key->kind == ICECORE_TEXT);
                return;
            }
            if (key->flags & ICECORE_BIT_4)
                lock_value(aTHX_ b, frame, at, value);
            ib_store_by_node(aTHX_ b, hv, frame->key, value);
        } else {
            SV *key = ice_key_sv(aTHX_ ctx, b->v, node->key);
            const U8 flags = b->v->keys.names[node->key - 1].node.flags;
            if (UNLIKELY(flags & ICECORE_BIT_5)) {
                SvREFCNT_dec(value);
                ib_store_placeholder(aTHX_ hv, SvPVX_const(key), SvCUR(key), cBOOL(SvUTF8(key)));
                return;
            }
            if (UNLIKELY(flags & ICECORE_BIT_4))
                lock_value(aTHX_ b, frame, at, value);
            if (UNLIKELY(b->foreign))
                ib_store_by_sv(aTHX_ ctx, hv, key, value);
            else
                ib_store_entry(aTHX_ ctx, hv, key, value);
        }
        return;
    }
    case OPAQUE_HOOK:
        /* Payload, inner objects, links, body. */
        av_push(frame->list, value);
        return;
    case FIELDS:
        if (node->key == ICECORE_KEY_NODE)
            av_push(frame->list, ib_new_string(aTHX_ b, &b->v->nodes[frame->key]));
        else
            av_push(frame->list, newSVsv(ice_key_sv(aTHX_ ctx, b->v, node->key)));
        av_push(frame->list, value ? value : newSV(0));
        return;
    case RECORD:
    case OPAQUE_FREEZE:
    case TIED:
        av_push(frame->list, value ? value : newSV(0));
        return;
    default:
        SvREFCNT_dec(value);
    }
}

U32
ib_last_child(build *b, U32 at)
{
    U32 child = at + 1, last = child, end = (U32)b->v->nodes[at].payload;
    while (child < end) {
        last = child;
        child = ib_next_of(b, child);
    }
    return last;
}

/* The variable that the root is in: the caller's, if something in the document
 * names it. Otherwise the result is copied to there. */
static SV *
root_variable(pTHX_ build *b, const icecore_node *node)
{
    SV *into = b->set->into;
    if (!into || !(node->flags & ICECORE_IS_TARGET) || SvMAGICAL(into) || SvREADONLY(into) || SvTYPE(into) > SVt_PVMG)
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

/* What a reference refers to that leads to this node, if perl has but one of it. */
static SV *
own_referent(pTHX_ build *b, const icecore_node *node)
{
    if (node->kind == ICECORE_NULL && b->set->undef_own && !(node->flags & ICECORE_IS_TARGET))
        return &PL_sv_undef;
    return ib_immortal(aTHX_ b, node);
}

/* Builds what is at b->at, attaches it, and goes on behind it, or into it. */
static void
value(pTHX_ build *b)
{
    const icecore_node *nodes = b->v->nodes;
    U32 at = b->at, object = ICECORE_NONE, blessed;
    const icecore_node *node = &nodes[at];
    SV *slot;     /* the variable that the value is in */
    SV *variable; /* the innermost variable so far */

    if (is_leaf(node)) {
        SV *sv = UNLIKELY(b->shares) ? ib_new_shared_leaf(aTHX_ b, node) : new_leaf(aTHX_ b, node);
        if (!sv && node->flags & ICECORE_IS_TARGET)
            sv = newSV(0);
        if (sv && node->flags & ICECORE_IS_TARGET)
            ib_set_variable(aTHX_ b, at, sv);
        if (!sv && (b->ctx->depth == 0 || b->ctx->frames[b->ctx->depth - 1].build.kind != ARRAY))
            sv = newSV(0);
        attach(aTHX_ b, at, sv);
        b->at = at + 1;
        return;
    }
    if (node->kind == ICECORE_ALIAS) {
        ice_target *known = ib_find_target(b, (U32)node->payload);
        if (!known || !known->variable)
            croak("Icecore: an alias of something that is no variable");
        attach(aTHX_ b, at, SvREFCNT_inc_simple_NN(known->variable));
        b->at = at + 1;
        return;
    }
    /* Everything else is a reference in a variable, unless it is bare. */
    slot = UNLIKELY(b->ctx->depth == 0) ? root_variable(aTHX_ b, node) : newSV_type(SVt_IV);
    variable = slot;
    attach(aTHX_ b, at, slot);
    for (;;) {
        SV *referent;
        node = &nodes[at];
        blessed = ICECORE_NONE;
        /* The variable that a link or alias to this node means. */
        if (node->flags & ICECORE_IS_TARGET)
            ib_set_variable(aTHX_ b, at, variable);
        switch (node->kind) {
        case ICECORE_ATTRS:
            at++;
            continue;
        case ICECORE_OBJECT: {
            U8 form = ICE_FORM_OF(node);
            if (ib_is_record(b, node)) {
                ib_record(aTHX_ b, at, variable);
                return;
            }
            if (form == ICECORE_FORM_VARIABLE) {
                SV *rv = newRV_inc(variable);
                sv_2mortal(rv);
                ib_be_object(aTHX_ b, rv, at);
                at++;
                continue;
            }
            if (b->set->bless_ok && ib_fields(aTHX_ b, variable, at))
                return;
            object = at;
            at++;
            if (!ib_is_reference_kind(nodes[at].kind)) {
                /* A scalar that was read without the reference to it. */
                SV *scalar = newSV(0);
                referent = scalar;
                ib_set_rv(aTHX_ variable, scalar);
                ib_be_object(aTHX_ b, variable, object);
                if (nodes[object].flags & ICECORE_IS_TARGET)
                    ib_set_referent(aTHX_ b, object, scalar);
                object = ICECORE_NONE;
                variable = scalar;
            }
            continue;
        }
        case ICECORE_REF:
            /* A reference to a variable: that comes next. */
            referent = object == ICECORE_NONE ? own_referent(aTHX_ b, &nodes[at + 1]) : NULL;
            if (!referent)
                referent = newSV(0);
            ib_set_rv(aTHX_ variable, referent);
            if (object != ICECORE_NONE) {
                blessed = object;
                ib_be_object(aTHX_ b, variable, object);
                if (nodes[object].flags & ICECORE_IS_TARGET)
                    ib_set_referent(aTHX_ b, object, referent);
                if (nodes[object].flags & ICECORE_IS_WEAK)
                    ib_be_weak(aTHX_ b, variable);
                object = ICECORE_NONE;
            }
            if (node->flags & ICECORE_IS_TARGET)
                ib_set_referent(aTHX_ b, at, referent);
            if (node->flags & ICECORE_IS_WEAK)
                ib_be_weak(aTHX_ b, variable);
            at++;
            node = &nodes[at];
            if (node->kind == ICECORE_ALIAS) {
                ice_target *known = ib_find_target(b, (U32)node->payload);
                if (!known || !known->variable)
                    croak("Icecore: an alias of something that is no variable");
                SvRV_set(variable, SvREFCNT_inc_simple_NN(known->variable));
                SvREFCNT_dec(referent);
                if (blessed != ICECORE_NONE)
                    ib_be_object(aTHX_ b, variable, blessed);
                b->at = at + 1;
                return;
            }
            if (node->kind == ICECORE_MODULE && ICE_FORM_OF(node) == ICECORE_FORM_VARIABLE) {
                SvRV_set(variable, SvREFCNT_inc_simple_NN((SV *)ib_glob(aTHX_ b, node)));
                SvREFCNT_dec(referent);
                b->at = at + 1;
                return;
            }
            variable = referent;
            if (is_leaf(node)) {
                SV *leaf_sv = SvIMMORTAL(variable) ? NULL : new_leaf(aTHX_ b, node);
                if (leaf_sv) {
                    sv_setsv_flags(variable, leaf_sv, SV_NOSTEAL);
                    SvREFCNT_dec(leaf_sv);
                }
                if (node->flags & ICECORE_IS_TARGET)
                    ib_set_variable(aTHX_ b, at, variable);
                b->at = at + 1;
                return;
            }
            continue;
        case ICECORE_LINK: {
            ice_target *known = ib_find_target(b, (U32)node->payload);
            if (!known || !(known->referent || known->variable))
                croak("Icecore: a link to something that is not there");
            referent = known->referent ? known->referent : known->variable;
            ib_set_rv(aTHX_ variable, SvREFCNT_inc_simple_NN(referent));
            if (object != ICECORE_NONE)
                ib_be_object(aTHX_ b, variable, object);
            if (node->flags & ICECORE_IS_WEAK || (object != ICECORE_NONE && nodes[object].flags & ICECORE_IS_WEAK))
                ib_be_weak(aTHX_ b, variable);
            b->at = at + 1;
            return;
        }
        case ICECORE_ARRAY: {
            AV *av = newAV();
            U32 end = (U32)node->payload, count = node->aux, next;
            ib_set_rv(aTHX_ variable, (SV *)av);
            ib_container_refs(aTHX_ b, variable, (SV *)av, at, object);
            if (count) {
                av_extend(av, (SSize_t)count - 1);
                next = UNLIKELY(b->shares) ? at + 1 : ib_fill_array(aTHX_ b, av, at + 1, end);
                if (next < end) {
                    ice_build_frame *frame = ib_push_frame(aTHX_ b, ARRAY, at, (SV *)av);
                    frame->at = AvFILLp(av) + 1;
                    b->at = next;
                    return;
                }
            }
            b->at = end;
            return;
        }
        case ICECORE_MAP: {
            U32 end = (U32)node->payload, next;
            const bool is_restricted = (node->flags & ICECORE_BIT_4) != 0;
            HV *hv = ib_new_hash(aTHX_ node->aux);
            /* perl drops keys without a value when it makes more buckets. */
            if (UNLIKELY(is_restricted))
                hv_ksplit(hv, node->aux + 1);
            ib_set_rv(aTHX_ variable, (SV *)hv);
            ib_container_refs(aTHX_ b, variable, (SV *)hv, at, object);
            next = is_restricted || UNLIKELY(b->shares) ? at + 1 : ib_fill_hash(aTHX_ b, hv, at + 1, end);
            if (next < end || is_restricted || b->filters) {
                ice_build_frame *frame = ib_push_frame(aTHX_ b, MAP, at, (SV *)hv);
                frame->variable = slot;
                if (is_restricted)
                    frame->list = ib_parts(aTHX_ b);
                b->at = next;
                return;
            }
            b->at = end;
            return;
        }
        case ICECORE_REGEXP:
            ib_regexp(aTHX_ b, variable, at, object);
            return;
        case ICECORE_CODE:
            ib_code(aTHX_ b, variable, at, object);
            return;
        case ICECORE_VSTRING:
            ib_vstring(aTHX_ b, variable, at);
            return;
        case ICECORE_TIED:
            ib_tied(aTHX_ b, variable, at, object);
            return;
        case ICECORE_OPAQUE:
            ib_opaque(aTHX_ b, variable, at);
            return;
        default:
            if (is_leaf(node)) {
                SV *leaf_sv = new_leaf(aTHX_ b, node);
                if (leaf_sv) {
                    sv_setsv_flags(variable, leaf_sv, SV_NOSTEAL);
                    SvREFCNT_dec(leaf_sv);
                }
                b->at = at + 1;
                return;
            }
            croak("Icecore: a value of an unknown kind");
        }
    }
}

/* Gives a hash that is complete to JSON's filters. */
static void
filter(pTHX_ build *b, const ice_build_frame *frame)
{
    const icecore_node *node = &b->v->nodes[frame->node];
    const ice_json *json = b->set->json;
    if (!(json->flags & J_ALLOW_DUPKEYS) && HvUSEDKEYS((HV *)frame->sv) != node->aux)
        croak("Duplicate keys not allowed");
    if (!json->filter && !json->single_filter)
        return;
    ib_pin(aTHX_ b);
    ice_keep(aTHX_ b->ctx, SvREFCNT_inc_simple_NN(frame->sv));
    ice_keep(aTHX_ b->ctx, SvREFCNT_inc_simple_NN(frame->variable));
    ij_filter(aTHX_ json, (HV *)frame->sv, frame->variable);
}

/* The container that is open is complete. */
static void
close_frame(pTHX_ build *b)
{
    ice_context *ctx = b->ctx;
    const ice_build_frame frame = ctx->frames[ctx->depth - 1].build;
    b->at = frame.end;
    switch (frame.kind) {
    case ARRAY:
        ctx->depth--;
        if (AvFILLp((AV *)frame.sv) < frame.at - 1 && !SvREADONLY(frame.sv))
            av_fill((AV *)frame.sv, frame.at - 1);
        break;
    case MAP:
        ctx->depth--;
        if (frame.list) {
            lock_values(frame.list);
            SvREADONLY_on(frame.sv);
        }
        if (UNLIKELY(b->filters))
            filter(aTHX_ b, &frame);
        break;
    case OPAQUE_HOOK:
        ib_end_hook(aTHX_ b);
        break;
    case OPAQUE_FREEZE:
        ib_end_freeze(aTHX_ b);
        break;
    case TIED:
        ib_end_tied(aTHX_ b);
        break;
    case RECORD:
        ib_end_record(aTHX_ b);
        break;
    case FIELDS:
        ib_end_fields(aTHX_ b);
        break;
    default:
        ctx->depth--;
    }
}

/* Makes everything that a variable holds read-only, or all but references, arrays
 * and hashes. */
static void
make_readonly(pTHX_ ice_context *ctx, SV *root, bool all)
{
    AV *todo = (AV *)sv_2mortal((SV *)newAV());
    if (ctx->seen.used)
        ice_map_clear(&ctx->seen);
    av_push(todo, SvREFCNT_inc_simple_NN(root));
    while (AvFILLp(todo) >= 0) {
        SV *sv = sv_2mortal(av_pop(todo));
        /* A weak reference may lead back to what has one strong one only. */
        if (SvREFCNT(sv) > 2 || SvROK(sv) || SvTYPE(sv) >= SVt_PVAV) {
            if (ice_map_find(&ctx->seen, sv))
                continue;
            ice_map_add(&ctx->seen, sv, 0);
        }
        if (SvTYPE(sv) == SVt_PVAV || SvTYPE(sv) == SVt_PVHV) {
            /* What THAW gave is not ours. */
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
    build b;
    U32 i;
    SV *result;

    b.ctx = ctx;
    b.v = view;
    b.set = settings;
    b.at = root;
    b.storable = settings->profile == ICE_STORABLE;
    b.filters = settings->json && (settings->json->filter || settings->json->single_filter
                                   || !(settings->json->flags & J_ALLOW_DUPKEYS));
    b.no = settings->no ? settings->no : &PL_sv_no;
    b.yes = settings->yes ? settings->yes : &PL_sv_yes;
    b.foreign = FALSE;
    b.shares = settings->undef_own || settings->alias_under;
    ice_keys_check(aTHX_ ctx, view->keys.generation);
    if (root >= view->node_count)
        return newSV(0);
    if (b.shares || b.filters || !ib_plain(aTHX_ & b, root)) {
        ib_check_classes(aTHX_ & b, root);
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
            b.at = ib_next_of(&b, b.at);
            continue;
        }
        if (!b.foreign && !b.shares) {
            if (frame->kind == ARRAY && is_leaf(node)) {
                U32 next = ib_fill_array(aTHX_ & b, (AV *)frame->sv, b.at, frame->end);
                if (next != b.at) {
                    frame->at = AvFILLp((AV *)frame->sv) + 1;
                    b.at = next;
                    continue;
                }
            } else if (frame->kind == MAP && is_leaf(node)) {
                U32 next = ib_fill_hash(aTHX_ & b, (HV *)frame->sv, b.at, frame->end);
                if (next != b.at) {
                    b.at = next;
                    continue;
                }
            }
        }
        value(aTHX_ & b);
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
