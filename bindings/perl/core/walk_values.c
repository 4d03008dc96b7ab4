/* Puts the values of variables, and the targets of references. */
#include "core/leaf.h"

/* ---- arrays, hashes, code ---------------------------------------------- */

/* Puts an array, or the object of its tie if the format stores ties. */
static void
put_array(pTHX_ iw_walker *w, AV *av, U8 flags, U16 key, U32 wrapper_count)
{
    MAGIC *tie = iw_format_has(w, IW_TIES) ? iw_tie_of(aTHX_ (SV *)av) : NULL;
    if (tie)
        iw_push_tied(aTHX_ w, ICECORE_FORM_TIED_ARRAY, tie->mg_obj, flags, key, wrapper_count);
    else
        iw_open_array(aTHX_ w, iw_push(aTHX_ w, ICECORE_ARRAY, flags, key, 0, 0), wrapper_count, av);
}

/* Puts a hash, or the object of its tie if the format stores ties. */
static void
put_hash(pTHX_ iw_walker *w, HV *hv, U8 flags, U16 key, U32 wrapper_count)
{
    MAGIC *tie = iw_format_has(w, IW_TIES) ? iw_tie_of(aTHX_ (SV *)hv) : NULL;
    if (tie) {
        iw_push_tied(aTHX_ w, ICECORE_FORM_TIED_HASH, tie->mg_obj, flags, key, wrapper_count);
        return;
    }
    if (iw_is_restricted(w, hv))
        flags |= ICECORE_FLAG_RESTRICTED;
    else if (iw_format_has(w, IW_KEY_FLAGS) && HvHASKFLAGS(hv))
        flags |= ICECORE_FLAG_HINT;
    iw_open_hash(aTHX_ w, iw_push(aTHX_ w, ICECORE_MAP, flags, key, 0, 0), wrapper_count, hv);
}

#if ICE_HAS_CLASS
/* Puts the body of an object of a `class`: see build_fields.c. */
static void
put_fields(pTHX_ iw_walker *w, SV *object, U8 flags, U16 key, U32 wrapper_count)
{
    AV *list = newAV();
    U32 node;
    ice_keep_for_call(aTHX_ w->ctx, (SV *)list);
    ice_fields(aTHX_ object, list);
    node = iw_push(aTHX_ w, ICECORE_MAP, flags, key, 0, 0);
    iw_push_frame(aTHX_ w, IW_LISTED, node, wrapper_count, (SV *)list)->is_protected = TRUE;
}
#endif

/* Puts the target of a reference that is not a scalar. `rv` is the reference. The class of an
 * object is kept as an index, because the table of classes moves when it grows. A regexp of perl's
 * own class Regexp has no object node. */
static void
put_referent(pTHX_ iw_walker *w, SV *rv, SV *sv, U8 flags, U16 key, U32 wrapper_count, bool may_repeat)
{
    const bool is_object =
        SvOBJECT(sv) && !(SvTYPE(sv) == SVt_REGEXP && SvSTASH(sv) == gv_stashpvs("Regexp", GV_ADD));
    const U32 class_index = is_object ? (U32)(iw_class_of(aTHX_ w, SvSTASH(sv)) - w->ctx->classes) : 0;
    const bool is_hooked = is_object && iw_is_hooked(aTHX_ w, class_index, sv);
    bool has_hint = FALSE;

    if (SvREFCNT(sv) > 1 || may_repeat || iw_has_backrefs(aTHX_ sv)) {
        ice_slot *slot = ice_map_find(&w->ctx->seen, sv);
        if (slot) {
            iw_push_link(aTHX_ w, ICECORE_LINK, flags, key, slot->value, wrapper_count);
            return;
        }
        ice_map_add(&w->ctx->seen, sv, (U32)w->tape->node_count);
        has_hint = iw_format_has(w, IW_HINTS);
    }
    if (SvOBJECT(sv) && w->settings->croak_on_bless)
        iw_croak_on_bless(aTHX);
    if (is_object) {
        const U32 id = w->ctx->classes[class_index].id;
        if (is_hooked && w->rules->put_hooked(aTHX_ w, sv, class_index, flags, key, wrapper_count))
            return;
        if (!w->settings->no_bless) {
            iw_push(aTHX_ w, ICECORE_OBJECT, flags, key, 1, ICE_CLASS(id));
            wrapper_count++;
            key = 0;
            flags = 0;
        }
    }
    switch (SvTYPE(sv)) {
    case SVt_PVAV:
        put_array(aTHX_ w, (AV *)sv, has_hint ? flags | ICECORE_FLAG_HINT : flags, key, wrapper_count);
        return;
    case SVt_PVHV:
        put_hash(aTHX_ w, (HV *)sv, has_hint ? flags | ICECORE_FLAG_HINT : flags, key, wrapper_count);
        return;
#if ICE_HAS_CLASS
    case SVt_PVOBJ:
        put_fields(aTHX_ w, sv, flags, key, wrapper_count);
        return;
#endif
    case SVt_PVCV:
        w->rules->put_code(aTHX_ w, rv, sv, flags, key, wrapper_count);
        return;
    case SVt_REGEXP:
        iw_put_regexp(aTHX_ w, sv, SvOBJECT(sv) ? flags : flags | ICECORE_FLAG_BARE, key, wrapper_count);
        return;
    default:
        w->rules->put_unknown(aTHX_ w, rv, sv, flags, key, wrapper_count);
    }
}

/* ---- variables --------------------------------------------------------- */

/* State of a value while references to scalars are followed. For \\"text" it is first the outer
 * reference, then the inner one, then the text. */
typedef struct {
    SV *sv;
    U16 key;
    U32 wrapper_count; /* see walk.h */
    U32 refs;          /* number of references that were put */
    U32 object;        /* index of the object node of the scalar that comes next, or ICECORE_NONE */
    bool is_item;
    bool is_inner;      /* a reference was followed already */
    bool may_repeat;    /* it may be met again, whatever its reference count is */
    bool hook_declined; /* the hook of the scalar declined, so it is put as an ordinary object */
    iw_record_body body;
} pending_value;

/* Pushes a wrapper around the value. The wrapper has the key, so the value has none. */
static void
push_wrapper(pTHX_ iw_walker *w, pending_value *pending, U8 kind, U8 flags, U64 payload)
{
    iw_push(aTHX_ w, kind, flags, pending->key, 1, payload);
    pending->wrapper_count++;
    pending->key = 0;
}

/* Puts a variable to which something else may refer, if it is immortal or was put before.
 * Otherwise registers it and returns false.
 *
 * If a hook declined, put_object has registered the scalar with the node of its object. The
 * scalar itself was not put then, so the entry is changed, and no alias is pushed. */
static bool
put_shared(pTHX_ iw_walker *w, pending_value *pending)
{
    SV *sv = pending->sv;
    ice_slot *slot;
    if (iw_is_immortal(aTHX_ sv)
        && w->rules->put_immortal(aTHX_ w, sv, pending->key, pending->is_item && !pending->is_inner)) {
        iw_end_wrappers(w, pending->wrapper_count);
        return TRUE;
    }
    slot = ice_map_find(&w->ctx->seen, sv);
    if (slot && !pending->hook_declined) {
        iw_push_link(aTHX_ w, ICECORE_ALIAS, 0, pending->key, slot->value, pending->wrapper_count);
        return TRUE;
    }
    if (slot)
        slot->value = (U32)w->tape->node_count;
    else
        slot = ice_map_add(&w->ctx->seen, sv, (U32)w->tape->node_count);
    slot->object = pending->object;
    pending->hook_declined = FALSE;
    return FALSE;
}

/* Puts a scalar that is not a reference. */
static void
put_scalar(pTHX_ iw_walker *w, const pending_value *pending)
{
    SV *sv = pending->sv;
    if (SvTYPE(sv) >= SVt_PVMG) {
        if (SvTYPE(sv) == SVt_REGEXP) {
            iw_put_regexp(aTHX_ w, sv, ICECORE_FLAG_BARE, pending->key, pending->wrapper_count);
            return;
        }
        if (isGV_with_GP(sv) || SvTYPE(sv) > SVt_PVLV) {
            w->rules->put_unknown(aTHX_ w, NULL, sv, 0, pending->key, pending->wrapper_count);
            return;
        }
        if (w->rules->put_magical && w->rules->put_magical(aTHX_ w, sv, 0, pending->key, pending->wrapper_count))
            return;
    }
    w->rules->push_scalar(aTHX_ w, sv, 0, pending->key, pending->is_item && !pending->is_inner);
    iw_end_wrappers(w, pending->wrapper_count);
}

/* Handles a blessed scalar to which a reference leads. Returns true if it was put, by its hook
 * or as a link. Otherwise pushes its object node, unless the scalar itself was put before, and
 * returns false. */
static bool
put_object(pTHX_ iw_walker *w, pending_value *pending, SV *referent, U8 *flags)
{
    const U32 index = (U32)(iw_class_of(aTHX_ w, SvSTASH(referent)) - w->ctx->classes);
    const bool is_hooked = iw_is_hooked(aTHX_ w, index, referent);
    ice_slot *slot = ice_map_find(&w->ctx->seen, referent);
    if (slot && slot->object != ICECORE_NONE) {
        iw_push_link(aTHX_ w, ICECORE_LINK, *flags, pending->key, slot->object, pending->wrapper_count);
        return TRUE;
    }
    if (w->settings->croak_on_bless)
        iw_croak_on_bless(aTHX);
    if (!slot && is_hooked) {
        const U32 next_node = (U32)w->tape->node_count;
        ice_map_add(&w->ctx->seen, referent, next_node)->object = next_node;
        if (w->rules->put_hooked(aTHX_ w, referent, index, *flags, pending->key, pending->wrapper_count))
            return TRUE;
        pending->hook_declined = TRUE; /* put_shared changes the entry that was added above */
    }
    if (!slot && !w->settings->no_bless) {
        pending->object = (U32)w->tape->node_count;
        push_wrapper(aTHX_ w, pending, ICECORE_OBJECT, *flags, ICE_CLASS(w->ctx->classes[index].id));
        *flags = 0;
    }
    return FALSE;
}

/* Puts a reference. Returns true if its target was put too, false if the target is a scalar
 * that comes next. */
static bool
put_ref(pTHX_ iw_walker *w, pending_value *pending)
{
    SV *sv = pending->sv, *referent;
    U8 flags;
    if (w->rules->put_ref && w->rules->put_ref(aTHX_ w, sv, pending->key, pending->refs)) {
        iw_end_wrappers(w, pending->wrapper_count);
        return TRUE;
    }
    referent = SvRV(sv);
    if (UNLIKELY(SvOBJECT(referent)) && SvTYPE(referent) == SVt_PVHV
        && (!iw_format_has(w, IW_SOURCE) || iw_is_regexp_record(aTHX_ referent))
        && iw_class_of(aTHX_ w, SvSTASH(referent))->is_record) {
        pending->sv =
            iw_put_record(aTHX_ w, sv, &pending->key, &pending->wrapper_count, &pending->body, pending->may_repeat);
        pending->is_inner = TRUE;
        pending->may_repeat = FALSE;
        return !pending->sv;
    }
    /* The body of a record is a part of its object, so no reference of its own leads to it. */
    flags = !pending->body.is_body                        ? IW_FLAG_REF
          : pending->body.has_hint && !iw_is_scalar(referent) ? ICECORE_FLAG_HINT
                                                          : 0;
    pending->body.is_body = FALSE;
    if (SvWEAKREF(sv))
        flags |= ICECORE_FLAG_WEAK;
    if (SvOBJECT(referent) && iw_format_has(w, IW_OVERLOAD) && iw_class_of(aTHX_ w, SvSTASH(referent))->has_amagic)
        flags |= ICECORE_FLAG_OVERLOAD;
    if (!iw_is_scalar(referent) && !(iw_format_has(w, IW_SOURCE) && isGV_with_GP(referent))) {
        put_referent(aTHX_ w, sv, referent, flags, pending->key, pending->wrapper_count, pending->may_repeat);
        return TRUE;
    }
    if (SvOBJECT(referent) && put_object(aTHX_ w, pending, referent, &flags))
        return TRUE;
    push_wrapper(aTHX_ w, pending, ICECORE_REF, flags, 0);
    pending->refs++;
    if (!iw_format_has(w, IW_REF_IS_NO_LEVEL)) {
        const U32 wrapper_levels = iw_format_has(w, IW_BLESS_IS_NO_LEVEL) ? pending->refs : pending->wrapper_count;
        if (UNLIKELY(w->settings->max_depth && w->ctx->depth + wrapper_levels >= w->settings->max_depth))
            w->rules->croak_too_deep(aTHX_ w);
    }
    pending->is_inner = TRUE;
    pending->sv = referent;
    return FALSE;
}

/* Puts the value of a variable: an item of an array, the value of a hash, or the root. With
 * `may_repeat`, the target of a reference may be met again, whatever its reference count is. */
void
iw_put(pTHX_ iw_walker *w, SV *sv, U16 key, bool is_item, bool may_repeat)
{
    pending_value pending = { sv, key, 0, 0, ICECORE_NONE, is_item, FALSE, may_repeat, FALSE, { FALSE, FALSE } };
    /* Each round puts one variable. If it is a reference to a scalar, the next round puts this
     * scalar. An SV is looked up only if something else may refer to it. */
    do {
        sv = pending.sv;
        if (SvMAGICAL(sv) && !iw_format_has(w, IW_TIES) && SvGMAGICAL(sv))
            iw_get_magic(aTHX_ w, sv);
        if ((SvREFCNT(sv) > 1 || (pending.is_inner && pending.may_repeat) || pending.hook_declined
             || iw_has_backrefs(aTHX_ sv))
            && put_shared(aTHX_ w, &pending))
            return;
        if (SvOBJECT(sv) && pending.object == ICECORE_NONE && SvTYPE(sv) != SVt_REGEXP && !w->settings->no_bless
            && !iw_format_has(w, IW_SOURCE))
            /* The variable itself is blessed, and was not reached through a reference. */
            push_wrapper(aTHX_ w, &pending, ICECORE_OBJECT, 0,
                         ICE_CLASS(iw_class_of(aTHX_ w, SvSTASH(sv))->id) | ICE_FORM(ICECORE_FORM_VARIABLE));
        pending.object = ICECORE_NONE;
        if (!SvROK(sv)) {
            put_scalar(aTHX_ w, &pending);
            return;
        }
        if (iw_format_has(w, IW_TIES) && SvMAGICAL(sv)
            && w->rules->put_magical(aTHX_ w, sv, 0, pending.key, pending.wrapper_count))
            return;
    } while (!put_ref(aTHX_ w, &pending));
}
