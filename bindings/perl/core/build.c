/* Builds perl values from the engine's tape.
 *
 * One loop over the nodes, with a stack of its own. Every value is attached to the root
 * as soon as it is created, so that nothing leaks when a hook dies.
 *
 * Hooks may run any perl code, which can change or free what is being built. From the first
 * hook on, open containers are kept alive and are filled through perl's own interface. */
#include "core/build_entries.h"
#include "core/build_leaf.h"

/* ---- attaching values -------------------------------------------------- */

/* Makes the value of a locked key read-only. Only a leaf is complete at this point. Any other
 * value becomes read-only when its hash is complete, because read-only values can't be filled,
 * tied or blessed. Until then it is in frame->values_to_lock. */
static void
lock_value(pTHX_ ib_builder *b, const ice_build_frame *frame, U32 index, SV *value)
{
    if (ib_is_leaf(&b->view->nodes[index]) || !frame->values_to_lock)
        SvREADONLY_on(value);
    else
        av_push(frame->values_to_lock, SvREFCNT_inc_simple_NN(value));
}

/* Makes all values of a list read-only. */
static void
lock_values(AV *list)
{
    SSize_t i;
    for (i = 0; i <= AvFILLp(list); i++)
        SvREADONLY_on(AvARRAY(list)[i]);
}

/* Adds a value to those of a key that the hash already has. Returns false if it does not have the key. */
static bool
add_to_repeated(pTHX_ ib_builder *b, HV *hv, SV *key, SV *value)
{
    HE *he = hv_fetch_ent(hv, key, FALSE, 0);
    if (!he)
        return FALSE;
    b->settings->filters->add_repeated(aTHX_ b->settings->repeated_keys, &HeVAL(he), value);
    return TRUE;
}

/* Puts the value of the node `index` into the open container, which takes over the caller's
 * reference. Without an open container the value becomes the root. */
static void
attach(pTHX_ ib_builder *b, U32 index, SV *value)
{
    ice_context *ctx = b->ctx;
    ice_build_frame *frame;
    const icecore_node *node = &b->view->nodes[index];

    if (ctx->depth == 0) {
        SvREFCNT_dec(ctx->root);
        ctx->root = value;
        return;
    }
    frame = &ctx->frames[ctx->depth - 1].build;
    switch (frame->kind) {
    case IB_ARRAY: {
        AV *av = (AV *)frame->sv;
        SSize_t position = frame->index++;
        /* build_array has extended the array, so its slots exist. After perl code ran, the
         * array may have another size, and av_store checks it. A NULL item does not exist. */
        if (LIKELY(!b->foreign_code_ran && position <= AvMAX(av))) {
            AvARRAY(av)[position] = value;
            AvFILLp(av) = position;
        } else if (value && !av_store(av, position, value))
            SvREFCNT_dec(value);
        return;
    }
    case IB_MAP: {
        HV *hv = (HV *)frame->sv;
        /* The key is a node of its own before the value, or it has an id. Ids begin at 1. */
        if (node->key == ICECORE_KEY_PRECEDES) {
            const icecore_node *key = &b->view->nodes[frame->key];
            if (key->flags & ICECORE_FLAG_PLACEHOLDER) {
                STRLEN len;
                const char *text = ice_bytes_of(b->view, key, &len);
                SvREFCNT_dec(value);
                ib_store_placeholder(aTHX_ hv, text, len, key->kind == ICECORE_TEXT);
                return;
            }
            if (key->flags & ICECORE_FLAG_LOCKED)
                lock_value(aTHX_ b, frame, index, value);
            if (UNLIKELY(b->settings->repeated_keys)
                && add_to_repeated(aTHX_ b, hv, sv_2mortal(ib_new_string(aTHX_ b, key)), value))
                return;
            ib_store_by_node(aTHX_ b, hv, frame->key, value);
        } else {
            SV *key = ice_key_sv(aTHX_ ctx, b->view, node->key);
            const U8 flags = b->view->keys.names[node->key - 1].node.flags;
            if (UNLIKELY(flags & ICECORE_FLAG_PLACEHOLDER)) {
                SvREFCNT_dec(value);
                ib_store_placeholder(aTHX_ hv, SvPVX_const(key), SvCUR(key), cBOOL(SvUTF8(key)));
                return;
            }
            if (UNLIKELY(flags & ICECORE_FLAG_LOCKED))
                lock_value(aTHX_ b, frame, index, value);
            if (UNLIKELY(b->settings->repeated_keys) && add_to_repeated(aTHX_ b, hv, key, value))
                return;
            if (UNLIKELY(b->foreign_code_ran))
                ib_store_by_sv(aTHX_ ctx, hv, key, value);
            else
                ib_store_entry(aTHX_ ctx, hv, key, value);
        }
        return;
    }
    case IB_OPAQUE_HOOK:
        /* The list has the payload, then inner objects and links, then the body. */
        av_push(frame->children, value);
        return;
    case IB_FIELDS:
        if (node->key == ICECORE_KEY_PRECEDES)
            av_push(frame->children, ib_new_string(aTHX_ b, &b->view->nodes[frame->key]));
        else
            av_push(frame->children, newSVsv(ice_key_sv(aTHX_ ctx, b->view, node->key)));
        av_push(frame->children, value ? value : newSV(0));
        return;
    case IB_RECORD:
    case IB_OPAQUE_FREEZE:
    case IB_TIED:
        av_push(frame->children, value ? value : newSV(0));
        return;
    default:
        SvREFCNT_dec(value);
    }
}

/* Returns the variable of the root. If something in the document refers to the root, this is
 * the caller's variable. Otherwise it is a new one, and the caller copies the result. */
static SV *
root_variable(pTHX_ ib_builder *b, const icecore_node *node)
{
    SV *caller_variable = b->settings->result_variable;
    if (!caller_variable || !(node->flags & ICECORE_FLAG_TARGET) || SvGMAGICAL(caller_variable)
        || SvSMAGICAL(caller_variable) || SvREADONLY(caller_variable) || SvTYPE(caller_variable) > SVt_PVMG)
        return newSV_type(SVt_IV);
    /* In an SV, a reference is in the place of the pointer to the string. So the string of the
     * caller's variable is freed before the variable becomes a reference. */
    sv_setsv(caller_variable, &PL_sv_undef);
    if (SvTYPE(caller_variable) < SVt_PV) {
        if (SvTYPE(caller_variable) != SVt_IV)
            sv_upgrade(caller_variable, SVt_IV);
    } else {
        SvPV_free(caller_variable);
        SvPV_set(caller_variable, NULL);
        SvCUR_set(caller_variable, 0);
        SvLEN_set(caller_variable, 0);
    }
    return SvREFCNT_inc_simple_NN(caller_variable);
}

/* `node` is what a reference refers to. Returns perl's immortal value (undef, true, false) for
 * it, or NULL if the reference needs a new variable. */
static SV *
immortal_referent(pTHX_ ib_builder *b, const icecore_node *node)
{
    if (node->kind == ICECORE_NULL && b->settings->use_undef && !(node->flags & ICECORE_FLAG_TARGET))
        return &PL_sv_undef;
    return ib_immortal_value(aTHX_ b, node);
}

/* ---- values of nodes --------------------------------------------------- */

/* A value that is being built. A reference to a reference to a scalar needs several variables.
 * Each variable is a reference to the next one, and the innermost variable has the scalar. */
typedef struct {
    U32 index;          /* index of its node */
    U32 object;         /* index of the object node before it; ICECORE_NONE without one */
    SV *outer_variable; /* the variable that was attached */
    SV *variable;       /* the innermost variable so far */
} pending_value;

/* Builds a leaf and attaches it. ib_new_leaf returns NULL for an item that does not exist. The
 * item stays NULL if it is in an array and nothing refers to it. Otherwise it becomes undef. */
static void
build_leaf(pTHX_ ib_builder *b)
{
    const U32 index = b->next;
    const icecore_node *node = &b->view->nodes[index];
    SV *sv = UNLIKELY(b->needs_leaf_settings) ? ib_new_shared_leaf(aTHX_ b, node) : ib_new_leaf(aTHX_ b, node);
    if (!sv && node->flags & ICECORE_FLAG_TARGET)
        sv = newSV(0);
    if (sv && node->flags & ICECORE_FLAG_TARGET)
        ib_set_variable(aTHX_ b, index, sv);
    if (!sv && (b->ctx->depth == 0 || b->ctx->frames[b->ctx->depth - 1].build.kind != IB_ARRAY))
        sv = newSV(0);
    attach(aTHX_ b, index, sv);
    b->next = index + 1;
}

/* Returns the variable that an alias refers to, with one more reference. */
static SV *
aliased_variable(pTHX_ ib_builder *b, const icecore_node *node)
{
    ice_target *target = ib_find_target(b, (U32)node->payload);
    if (!target || !target->variable)
        croak("Icecore: an alias of something that is not a variable");
    return SvREFCNT_inc_simple_NN(target->variable);
}

/* Puts a leaf into an existing variable. The variable is unchanged if it is immortal, because
 * it has its value already, or if the leaf does not exist. */
static void
fill_variable(pTHX_ ib_builder *b, SV *variable, const icecore_node *node)
{
    SV *sv = SvIMMORTAL(variable) ? NULL : ib_new_leaf(aTHX_ b, node);
    if (sv) {
        sv_setsv_flags(variable, sv, SV_NOSTEAL);
        SvREFCNT_dec(sv);
    }
}

/* Builds an object. Returns true if this also began its contents, false if they come next. */
static bool
build_object(pTHX_ ib_builder *b, pending_value *pending)
{
    const icecore_node *nodes = b->view->nodes, *node = &nodes[pending->index];
    if (ib_is_record(b, node)) {
        ib_begin_record(aTHX_ b, pending->index, pending->variable);
        return TRUE;
    }
    if (ICE_FORM_OF(node) == ICECORE_FORM_VARIABLE) {
        ib_bless(aTHX_ b, sv_2mortal(newRV_inc(pending->variable)), pending->index);
        pending->index++;
        return FALSE;
    }
    if (b->settings->bless_ok && ib_begin_fields(aTHX_ b, pending->variable, pending->index))
        return TRUE;
    pending->object = pending->index++;
    if (!ib_is_reference_kind(nodes[pending->index].kind)) {
        /* The node is a scalar, and the document has no node for the reference to it. An object
         * is always reached through a reference, so the reference is created here. */
        SV *scalar = newSV(0);
        ib_make_reference(aTHX_ pending->variable, scalar);
        ib_bless(aTHX_ b, pending->variable, pending->object);
        if (node->flags & ICECORE_FLAG_TARGET)
            ib_set_referent(aTHX_ b, pending->object, scalar);
        pending->object = ICECORE_NONE;
        pending->variable = scalar;
    }
    return FALSE;
}

/* Replaces the referent of a new reference, and blesses the new referent if there is an object
 * node. Takes over the caller's reference to `referent`. */
static void
refer_to(pTHX_ ib_builder *b, SV *variable, SV *referent, U32 object)
{
    SV *old = SvRV(variable);
    SvRV_set(variable, referent);
    SvREFCNT_dec(old);
    if (object != ICECORE_NONE)
        ib_bless(aTHX_ b, variable, object);
}

/* Builds a reference to a variable. Returns true if that variable has its value, false if its
 * value comes next. An immortal value can't be blessed, so an object gets a new variable. */
static bool
build_ref(pTHX_ ib_builder *b, pending_value *pending)
{
    const icecore_node *nodes = b->view->nodes, *node = &nodes[pending->index], *inner = node + 1;
    const U32 object = pending->object;
    SV *variable = pending->variable, *referent = object == ICECORE_NONE ? immortal_referent(aTHX_ b, inner) : NULL;
    if (!referent)
        referent = newSV(0);
    ib_make_reference(aTHX_ variable, referent);
    if (object != ICECORE_NONE) {
        ib_bless(aTHX_ b, variable, object);
        if (nodes[object].flags & ICECORE_FLAG_TARGET)
            ib_set_referent(aTHX_ b, object, referent);
        if (nodes[object].flags & ICECORE_FLAG_WEAK)
            ib_weaken_later(aTHX_ b, variable);
        pending->object = ICECORE_NONE;
    }
    if (node->flags & ICECORE_FLAG_TARGET)
        ib_set_referent(aTHX_ b, pending->index, referent);
    if (node->flags & ICECORE_FLAG_WEAK)
        ib_weaken_later(aTHX_ b, variable);
    pending->index++;
    b->next = pending->index + 1;
    if (inner->kind == ICECORE_ALIAS) {
        refer_to(aTHX_ b, variable, aliased_variable(aTHX_ b, inner), object);
        return TRUE;
    }
    if (inner->kind == ICECORE_MODULE && ICE_FORM_OF(inner) == ICECORE_FORM_VARIABLE) {
        refer_to(aTHX_ b, variable, SvREFCNT_inc_simple_NN((SV *)ib_find_glob(aTHX_ b, inner)), ICECORE_NONE);
        return TRUE;
    }
    pending->variable = referent;
    if (!ib_is_leaf(inner))
        return FALSE;
    fill_variable(aTHX_ b, referent, inner);
    if (inner->flags & ICECORE_FLAG_TARGET)
        ib_set_variable(aTHX_ b, pending->index, referent);
    return TRUE;
}

/* Builds a reference to an earlier value. */
static void
build_link(pTHX_ ib_builder *b, const pending_value *pending)
{
    const icecore_node *nodes = b->view->nodes, *node = &nodes[pending->index];
    ice_target *target = ib_find_target(b, (U32)node->payload);
    if (!target || !(target->referent || target->variable))
        croak("Icecore: a link to a value that does not exist");
    ib_make_reference(aTHX_ pending->variable,
                      SvREFCNT_inc_simple_NN(target->referent ? target->referent : target->variable));
    if (pending->object != ICECORE_NONE) {
        ib_bless(aTHX_ b, pending->variable, pending->object);
        if (nodes[pending->object].kind == ICECORE_OPAQUE && nodes[pending->object].flags & ICECORE_FLAG_TARGET)
            ib_set_referent(aTHX_ b, pending->object, SvRV(pending->variable));
    }
    if (ib_is_thawed_at_end(b, &nodes[target->node]))
        ib_register_frozen_link(aTHX_ b, pending->variable, pending->index, target->node);
    if (node->flags & ICECORE_FLAG_WEAK
        || (pending->object != ICECORE_NONE && nodes[pending->object].flags & ICECORE_FLAG_WEAK))
        ib_weaken_later(aTHX_ b, pending->variable);
    b->next = pending->index + 1;
}

static void
build_array(pTHX_ ib_builder *b, const pending_value *pending)
{
    const icecore_node *node = &b->view->nodes[pending->index];
    const U32 end = (U32)node->payload, count = node->aux;
    AV *av = newAV();
    b->next = end;
    ib_make_reference(aTHX_ pending->variable, (SV *)av);
    ib_register_container(aTHX_ b, pending->variable, (SV *)av, pending->index, pending->object);
    if (count) {
        U32 next;
        av_extend(av, (SSize_t)count - 1);
        next = UNLIKELY(b->needs_leaf_settings) ? pending->index + 1
                                                : ib_append_leaves(aTHX_ b, av, pending->index + 1, end);
        if (next < end) {
            ib_push_frame(aTHX_ b, IB_ARRAY, pending->index, (SV *)av)->index = AvFILLp(av) + 1;
            b->next = next;
        }
    }
}

static void
build_hash(pTHX_ ib_builder *b, const pending_value *pending)
{
    const icecore_node *node = &b->view->nodes[pending->index];
    const U32 end = (U32)node->payload;
    const bool is_restricted = (node->flags & ICECORE_FLAG_RESTRICTED) != 0;
    HV *hv = ib_new_hash(aTHX_ node->aux);
    /* perl drops the placeholders of absent keys when it adds buckets. So all buckets are added
     * before the first placeholder is stored. */
    if (UNLIKELY(is_restricted))
        hv_ksplit(hv, node->aux + 1);
    ib_make_reference(aTHX_ pending->variable, (SV *)hv);
    ib_register_container(aTHX_ b, pending->variable, (SV *)hv, pending->index, pending->object);
    b->next = is_restricted || UNLIKELY(b->needs_leaf_settings)
                ? pending->index + 1
                : ib_store_leaves(aTHX_ b, hv, pending->index + 1, end);
    if (b->next < end || is_restricted || b->settings->filters) {
        ice_build_frame *frame = ib_push_frame(aTHX_ b, IB_MAP, pending->index, (SV *)hv);
        frame->variable = pending->outer_variable;
        if (is_restricted)
            frame->values_to_lock = ib_new_kept_list(aTHX_ b);
    }
}

/* Builds the value at b->next, and attaches it. Moves b->next after the value, or to its
 * contents if they come next. */
static void
build_value(pTHX_ ib_builder *b)
{
    const icecore_node *nodes = b->view->nodes, *node = &nodes[b->next];
    pending_value pending = { b->next, ICECORE_NONE, NULL, NULL };

    if (ib_is_leaf(node)) {
        build_leaf(aTHX_ b);
        return;
    }
    if (node->kind == ICECORE_ALIAS) {
        attach(aTHX_ b, b->next, aliased_variable(aTHX_ b, node));
        b->next++;
        return;
    }
    /* Every other value needs a variable: for a reference to it, or for a scalar such as a
     * v-string. */
    pending.outer_variable = pending.variable =
        UNLIKELY(b->ctx->depth == 0) ? root_variable(aTHX_ b, node) : newSV_type(SVt_IV);
    attach(aTHX_ b, pending.index, pending.outer_variable);
    /* Objects, references and similar nodes are wrappers around the next node. After a wrapper the
     * loop continues with this node; all other nodes end the loop. */
    for (;;) {
        node = &nodes[pending.index];
        /* Links and aliases to this node refer to this variable. */
        if (node->flags & ICECORE_FLAG_TARGET)
            ib_set_variable(aTHX_ b, pending.index, pending.variable);
        switch (node->kind) {
        case ICECORE_ATTRS:
            pending.index++;
            continue;
        case ICECORE_OBJECT:
            if (build_object(aTHX_ b, &pending))
                return;
            continue;
        case ICECORE_REF:
            if (build_ref(aTHX_ b, &pending))
                return;
            continue;
        case ICECORE_LINK:
            build_link(aTHX_ b, &pending);
            return;
        case ICECORE_ARRAY:
            build_array(aTHX_ b, &pending);
            return;
        case ICECORE_MAP:
            build_hash(aTHX_ b, &pending);
            return;
        case ICECORE_REGEXP:
            ib_build_regexp(aTHX_ b, pending.variable, pending.index, pending.object);
            return;
        case ICECORE_CODE:
            ib_build_code(aTHX_ b, pending.variable, pending.index, pending.object);
            return;
        case ICECORE_VSTRING:
            ib_build_vstring(aTHX_ b, pending.variable, pending.index);
            return;
        case ICECORE_TIED:
            ib_begin_tied(aTHX_ b, pending.variable, pending.index, pending.object);
            return;
        case ICECORE_OPAQUE:
            if (ib_is_thawed_at_end(b, node)) {
                ib_register_frozen(aTHX_ b, pending.variable, pending.index);
                if (node->flags & ICECORE_FLAG_WEAK)
                    ib_weaken_later(aTHX_ b, pending.variable);
                /* Until it is thawed, the object is its payload, so links to the object lead
                 * to the payload. */
                pending.object =
                    node[1].kind == ICECORE_ARRAY || node[1].kind == ICECORE_LINK ? pending.index : ICECORE_NONE;
                pending.index++;
                continue;
            }
            ib_begin_opaque(aTHX_ b, pending.variable, pending.index);
            return;
        default:
            if (!ib_is_leaf(node))
                croak("Icecore: a value of an unknown kind");
            fill_variable(aTHX_ b, pending.variable, node);
            b->next = pending.index + 1;
            return;
        }
    }
}

/* Passes a complete hash to the filters. They run perl code, so the hash and its variable are
 * kept alive until the end of the call. */
static void
filter_hash(pTHX_ ib_builder *b, const ice_build_frame *frame)
{
    const ice_filters *filters = b->settings->filters;
    const ice_json *json = b->settings->json;
    if (!filters->is_filtered(aTHX_ b->settings, (HV *)frame->sv, b->view->nodes[frame->node].aux))
        return;
    ib_protect_frames(aTHX_ b);
    ice_keep_for_call(aTHX_ b->ctx, SvREFCNT_inc_simple_NN(frame->sv));
    ice_keep_for_call(aTHX_ b->ctx, SvREFCNT_inc_simple_NN(frame->variable));
    filters->filter(aTHX_ json, (HV *)frame->sv, frame->variable);
}

/* Closes the open container, which is complete. */
static void
close_frame(pTHX_ ib_builder *b)
{
    ice_context *ctx = b->ctx;
    const ice_build_frame frame = ctx->frames[ctx->depth - 1].build;
    b->next = frame.end;
    switch (frame.kind) {
    case IB_ARRAY:
        ctx->depth--;
        /* Items at the end that do not exist may not have been stored. av_fill gives the array
         * its full length. */
        if (AvFILLp((AV *)frame.sv) < frame.index - 1 && !SvREADONLY(frame.sv))
            av_fill((AV *)frame.sv, frame.index - 1);
        break;
    case IB_MAP:
        ctx->depth--;
        if (frame.values_to_lock) {
            lock_values(frame.values_to_lock);
            SvREADONLY_on(frame.sv);
        }
        if (UNLIKELY(b->settings->filters != NULL))
            filter_hash(aTHX_ b, &frame);
        break;
    case IB_OPAQUE_HOOK:
        ib_end_hook(aTHX_ b);
        break;
    case IB_OPAQUE_FREEZE:
        ib_end_frozen(aTHX_ b);
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

/* Makes everything that a variable contains read-only. If `whole` is false, only scalars that
 * are not references become read-only. The queue replaces a recursion, so nested data takes no
 * native stack. */
static void
make_readonly(pTHX_ ice_context *ctx, SV *root, bool whole)
{
    AV *queue = (AV *)sv_2mortal((SV *)newAV());
    if (ctx->seen.count)
        ice_map_clear(&ctx->seen);
    av_push(queue, SvREFCNT_inc_simple_NN(root));
    while (AvFILLp(queue) >= 0) {
        SV *sv = sv_2mortal(av_pop(queue));
        /* Only values that can be reached twice are recorded in ctx->seen. The container and the
         * queue have one counted reference each, so a count of more than 2 shows another way to
         * the value. Weak references are not counted, and may close a cycle. Every cycle contains
         * a reference, so references and containers are recorded whatever their count is. */
        if (SvREFCNT(sv) > 2 || SvROK(sv) || SvTYPE(sv) >= SVt_PVAV) {
            if (ice_map_find(&ctx->seen, sv))
                continue;
            ice_map_add(&ctx->seen, sv, 0);
        }
        if (SvTYPE(sv) == SVt_PVAV || SvTYPE(sv) == SVt_PVHV) {
            /* Values that THAW returned belong to the program. */
            if ((SvRMAGICAL(sv) && mg_find(sv, PERL_MAGIC_tied))
                || (SvOBJECT(sv) && ice_find_method(aTHX_ SvSTASH(sv), "THAW")))
                continue;
            if (SvTYPE(sv) == SVt_PVAV) {
                SSize_t i;
                for (i = 0; i <= AvFILLp((AV *)sv); i++)
                    if (AvARRAY((AV *)sv)[i])
                        av_push(queue, SvREFCNT_inc_simple_NN(AvARRAY((AV *)sv)[i]));
            } else {
                HV *hv = (HV *)sv;
                U32 i;
                HE *he;
                for (i = 0; HvARRAY(hv) && i <= (U32)HvMAX(hv); i++)
                    for (he = HvARRAY(hv)[i]; he; he = HeNEXT(he))
                        av_push(queue, SvREFCNT_inc_simple_NN(HeVAL(he)));
            }
            if (whole)
                SvREADONLY_on(sv);
        } else if (SvTYPE(sv) < SVt_PVAV) {
            if (SvROK(sv))
                av_push(queue, SvREFCNT_inc_simple_NN(SvRV(sv)));
            if (whole || !SvROK(sv))
                SvREADONLY_on(sv);
        }
    }
}

SV *
ice_build(pTHX_ ice_context *ctx, icecore_view *view, U32 root, const ice_read_settings *settings)
{
    ib_builder b;
    U32 i;
    SV *result;

    b.ctx = ctx;
    b.view = view;
    b.settings = settings;
    b.next = root;
    b.false_value = settings->false_value ? settings->false_value : &PL_sv_no;
    b.true_value = settings->true_value ? settings->true_value : &PL_sv_yes;
    b.foreign_code_ran = FALSE;
    /* The fast paths do not call ib_new_shared_leaf, so they are not used if a setting needs this
     * function. They are not used either if leaves must be marked as tainted. */
    b.needs_leaf_settings = settings->use_undef || settings->alias_limit || settings->numbers
                         || settings->repeated_keys || settings->has_bytes || settings->parses_floats || TAINT_get;
    ice_update_keys(aTHX_ ctx, view->keys.generation);
    if (root >= view->node_count)
        return newSV(0);
    if (b.needs_leaf_settings || settings->filters || !ib_build_plain_document(aTHX_ & b, root)) {
        ib_check_classes(aTHX_ & b, root);
        ib_report_errors_before_hooks(aTHX_ & b, root);
        build_value(aTHX_ & b);
    }
    while (ctx->depth) {
        ice_build_frame *frame = &ctx->frames[ctx->depth - 1].build;
        const icecore_node *node;
        if (b.next >= frame->end) {
            close_frame(aTHX_ & b);
            continue;
        }
        node = &view->nodes[b.next];
        /* A key node is not a value. The frame keeps its index for the value that follows. */
        if (node->key == ICECORE_IS_KEY) {
            frame->key = b.next;
            b.next = ice_next(b.view, b.next);
            continue;
        }
        if (!b.foreign_code_ran && !b.needs_leaf_settings) {
            if (frame->kind == IB_ARRAY && ib_is_leaf(node)) {
                U32 next = ib_append_leaves(aTHX_ & b, (AV *)frame->sv, b.next, frame->end);
                if (next != b.next) {
                    frame->index = AvFILLp((AV *)frame->sv) + 1;
                    b.next = next;
                    continue;
                }
            } else if (frame->kind == IB_MAP && ib_is_leaf(node)) {
                U32 next = ib_store_leaves(aTHX_ & b, (HV *)frame->sv, b.next, frame->end);
                if (next != b.next) {
                    b.next = next;
                    continue;
                }
            }
        }
        build_value(aTHX_ & b);
    }
    if (UNLIKELY(ctx->frozen_count)) {
        ib_thaw_all(aTHX_ & b);
        ice_release_frozen(aTHX_ ctx);
    }
    /* References become weak last. If one became weak earlier, its target could be freed before a
     * strong reference to the target is built. Each entry of ctx->weak owns a reference. */
    for (i = 0; i < ctx->weak_count; i++) {
        SV *rv = ctx->weak[i];
        if (SvROK(rv) && !SvWEAKREF(rv))
            sv_rvweaken(rv);
        SvREFCNT_dec(rv);
    }
    ctx->weak_count = 0;
    /* The reference to the root passes from the context to the caller. */
    result = ctx->root;
    ctx->root = NULL;
    if (settings->readonly || settings->readonly_scalars)
        make_readonly(aTHX_ ctx, result, settings->readonly);
    return result;
}
