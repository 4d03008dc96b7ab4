/* Values: the contents of variables, and the targets of references. */
#include "core/leaf.h"

/* ---- arrays, hashes, code ---------------------------------------------- */

static void
put_array(pTHX_ iw_walk *w, AV *av, U8 flags, U16 key, U32 wraps)
{
    MAGIC *tie = has_fact(w, IW_TIES) ? tie_of(aTHX_ (SV *)av) : NULL;
    if (tie)
        iw_push_tied(aTHX_ w, ICECORE_FORM_TIED_ARRAY, tie->mg_obj, flags, key, wraps);
    else
        iw_open_array(aTHX_ w, push(aTHX_ w, ICECORE_ARRAY, flags, key, 0, 0), wraps, av);
}

static void
put_hash(pTHX_ iw_walk *w, HV *hv, U8 flags, U16 key, U32 wraps)
{
    MAGIC *tie = has_fact(w, IW_TIES) ? tie_of(aTHX_ (SV *)hv) : NULL;
    if (tie) {
        iw_push_tied(aTHX_ w, ICECORE_FORM_TIED_HASH, tie->mg_obj, flags, key, wraps);
        return;
    }
    if (is_restricted(w, hv))
        flags |= ICECORE_FLAG_RESTRICTED;
    else if (has_fact(w, IW_KEY_FLAGS) && HvHASKFLAGS(hv))
        flags |= ICECORE_FLAG_HINT;
    iw_open_hash(aTHX_ w, push(aTHX_ w, ICECORE_MAP, flags, key, 0, 0), wraps, hv);
}

#if ICE_HAS_CLASS
/* Puts an object of perl 5.38's `class`. */
static void
put_fields(pTHX_ iw_walk *w, SV *object, U8 flags, U16 key, U32 wraps)
{
    AV *list = newAV();
    U32 at;
    ice_keep(aTHX_ w->ctx, (SV *)list);
    ice_fields(aTHX_ object, list);
    at = push(aTHX_ w, ICECORE_MAP, flags, key, 0, 0);
    iw_push_frame(aTHX_ w, IW_LISTED, at, wraps, (SV *)list)->pinned = TRUE;
}
#endif

/* Puts the target of a reference, if it is not a scalar; `rv` may be NULL. */
static void
put_referent(pTHX_ iw_walk *w, SV *rv, SV *sv, U8 flags, U16 key, U32 wraps, bool remember)
{
    const bool is_object = SvOBJECT(sv) && !(SvTYPE(sv) == SVt_REGEXP && SvSTASH(sv) == gv_stashpvs("Regexp", GV_ADD));
    const U32 class_index = is_object ? (U32)(iw_class_of(aTHX_ w, SvSTASH(sv)) - w->ctx->classes) : 0;
    const bool is_hooked = is_object && iw_is_hooked(aTHX_ w, class_index, sv);
    bool counted = FALSE;

    if (SvREFCNT(sv) > 1 || remember || has_backrefs(aTHX_ sv)) {
        ice_slot *slot = ice_map_find(&w->ctx->seen, sv);
        if (slot) {
            push_again(aTHX_ w, ICECORE_LINK, flags, key, slot->value, wraps);
            return;
        }
        ice_map_add(&w->ctx->seen, sv, (U32)w->t->node_count);
        counted = has_fact(w, IW_HINTS);
    }
    if (SvOBJECT(sv) && w->set->croak_on_bless)
        iw_refuse_object(aTHX);
    if (is_object) {
        const U32 id = w->ctx->classes[class_index].id;
        if (is_hooked && w->rules->put_hooked(aTHX_ w, sv, class_index, flags, key, wraps))
            return;
        if (!w->set->no_bless) {
            push(aTHX_ w, ICECORE_OBJECT, flags, key, 1, ICE_CLASS(id));
            wraps++;
            key = 0;
            flags = 0;
        }
    }
    switch (SvTYPE(sv)) {
    case SVt_PVAV:
        put_array(aTHX_ w, (AV *)sv, counted ? flags | ICECORE_FLAG_HINT : flags, key, wraps);
        return;
    case SVt_PVHV:
        put_hash(aTHX_ w, (HV *)sv, counted ? flags | ICECORE_FLAG_HINT : flags, key, wraps);
        return;
#if ICE_HAS_CLASS
    case SVt_PVOBJ:
        put_fields(aTHX_ w, sv, flags, key, wraps);
        return;
#endif
    case SVt_PVCV:
        w->rules->put_code(aTHX_ w, rv, sv, flags, key, wraps);
        return;
    case SVt_REGEXP:
        iw_put_regexp(aTHX_ w, sv, SvOBJECT(sv) ? flags : flags | ICECORE_FLAG_BARE, key, wraps);
        return;
    default:
        w->rules->put_unknown(aTHX_ w, rv, sv, flags, key, wraps);
    }
}

/* ---- variables --------------------------------------------------------- */

/* State of a value that is followed through references to scalars. */
typedef struct {
    SV *sv;
    U16 key;
    U32 wraps;  /* nodes that end where the value ends */
    U32 refs;   /* number of references that were put for it */
    U32 object; /* the object node of the scalar that comes next, or ICECORE_NONE */
    bool item;
    bool inner;    /* it was reached through a reference */
    bool remember; /* it may be met again, whatever its reference count is */
    bool declined; /* its hook declined: it has no object node of its own yet */
    record_body body;
} step;

static void
wrap(pTHX_ iw_walk *w, step *s, U8 kind, U8 flags, U64 payload)
{
    push(aTHX_ w, kind, flags, s->key, 1, payload);
    s->wraps++;
    s->key = 0;
}

/* Puts a variable to which something else may refer. Returns whether it was put. */
static bool
put_shared(pTHX_ iw_walk *w, step *s)
{
    SV *sv = s->sv;
    ice_slot *slot;
    if (is_immortal(aTHX_ sv) && w->rules->put_immortal(aTHX_ w, sv, s->key, s->item && !s->inner)) {
        end_wraps(w, s->wraps);
        return TRUE;
    }
    slot = ice_map_find(&w->ctx->seen, sv);
    if (slot && !s->declined) {
        push_again(aTHX_ w, ICECORE_ALIAS, 0, s->key, slot->value, s->wraps);
        return TRUE;
    }
    if (slot)
        slot->value = (U32)w->t->node_count;
    else
        slot = ice_map_add(&w->ctx->seen, sv, (U32)w->t->node_count);
    slot->object = s->object;
    s->declined = FALSE;
    return FALSE;
}

/* Puts a scalar that is not a reference. */
static void
put_scalar(pTHX_ iw_walk *w, const step *s)
{
    SV *sv = s->sv;
    if (SvTYPE(sv) >= SVt_PVMG) {
        if (SvTYPE(sv) == SVt_REGEXP) {
            iw_put_regexp(aTHX_ w, sv, ICECORE_FLAG_BARE, s->key, s->wraps);
            return;
        }
        if (isGV_with_GP(sv) || SvTYPE(sv) > SVt_PVLV) {
            w->rules->put_unknown(aTHX_ w, NULL, sv, 0, s->key, s->wraps);
            return;
        }
        if (w->rules->put_magical && w->rules->put_magical(aTHX_ w, sv, 0, s->key, s->wraps))
            return;
    }
    w->rules->leaf(aTHX_ w, sv, 0, s->key, s->item && !s->inner);
    end_wraps(w, s->wraps);
}

/* Handles a blessed scalar that was reached through a reference: pushes its class, if
 * that was not done yet. Returns whether it was put. */
static bool
put_object(pTHX_ iw_walk *w, step *s, SV *referent, U8 *flags)
{
    const U32 index = (U32)(iw_class_of(aTHX_ w, SvSTASH(referent)) - w->ctx->classes);
    const bool is_hooked = iw_is_hooked(aTHX_ w, index, referent);
    ice_slot *slot = ice_map_find(&w->ctx->seen, referent);
    if (slot && slot->object != ICECORE_NONE) {
        push_again(aTHX_ w, ICECORE_LINK, *flags, s->key, slot->object, s->wraps);
        return TRUE;
    }
    if (w->set->croak_on_bless)
        iw_refuse_object(aTHX);
    if (!slot && is_hooked) {
        const U32 here = (U32)w->t->node_count;
        ice_map_add(&w->ctx->seen, referent, here)->object = here;
        if (w->rules->put_hooked(aTHX_ w, referent, index, *flags, s->key, s->wraps))
            return TRUE;
        s->declined = TRUE; /* it was registered as an object of its own, which it is not */
    }
    if (!slot && !w->set->no_bless) {
        s->object = (U32)w->t->node_count;
        wrap(aTHX_ w, s, ICECORE_OBJECT, *flags, ICE_CLASS(w->ctx->classes[index].id));
        *flags = 0;
    }
    return FALSE;
}

/* Puts a reference. Returns whether it was put; otherwise the scalar that it refers to
 * comes next. */
static bool
put_ref(pTHX_ iw_walk *w, step *s)
{
    SV *sv = s->sv, *referent;
    U8 flags;
    if (w->rules->put_ref && w->rules->put_ref(aTHX_ w, sv, s->key, s->refs)) {
        end_wraps(w, s->wraps);
        return TRUE;
    }
    referent = SvRV(sv);
    if (UNLIKELY(SvOBJECT(referent)) && SvTYPE(referent) == SVt_PVHV
        && (!has_fact(w, IW_SOURCE) || iw_is_regexp_record(aTHX_ referent))
        && iw_class_of(aTHX_ w, SvSTASH(referent))->is_record) {
        s->sv = iw_put_record(aTHX_ w, sv, &s->key, &s->wraps, &s->body, s->remember);
        s->inner = TRUE;
        s->remember = FALSE;
        return !s->sv;
    }
    flags = !s->body.is_body ? REFERENCE : s->body.hint && !is_scalar(referent) ? ICECORE_FLAG_HINT : 0;
    s->body.is_body = FALSE;
    if (SvWEAKREF(sv))
        flags |= ICECORE_FLAG_WEAK;
    if (SvOBJECT(referent) && has_fact(w, IW_OVERLOAD) && iw_class_of(aTHX_ w, SvSTASH(referent))->has_amagic)
        flags |= ICECORE_FLAG_OVERLOAD;
    if (!is_scalar(referent) && !(has_fact(w, IW_SOURCE) && isGV_with_GP(referent))) {
        put_referent(aTHX_ w, sv, referent, flags, s->key, s->wraps, s->remember);
        return TRUE;
    }
    if (SvOBJECT(referent) && put_object(aTHX_ w, s, referent, &flags))
        return TRUE;
    wrap(aTHX_ w, s, ICECORE_REF, flags, 0);
    s->refs++;
    if (UNLIKELY(w->set->max_depth && w->ctx->depth + s->wraps >= w->set->max_depth))
        w->rules->too_deep(aTHX_ w);
    s->inner = TRUE;
    s->sv = referent;
    return FALSE;
}

/* Puts the value of a variable: an item, the value of an entry, the target of a
 * reference to a scalar. With `remember` the target may be met again, whatever its
 * reference count is. */
void
iw_put(pTHX_ iw_walk *w, SV *sv, U16 key, bool item, bool remember)
{
    step s = { sv, key, 0, 0, ICECORE_NONE, item, FALSE, remember, FALSE, { FALSE, FALSE } };
    do {
        sv = s.sv;
        if (SvMAGICAL(sv) && !has_fact(w, IW_TIES) && SvGMAGICAL(sv))
            iw_get_magic(aTHX_ w, sv);
        if ((SvREFCNT(sv) > 1 || (s.inner && s.remember) || s.declined || has_backrefs(aTHX_ sv))
            && put_shared(aTHX_ w, &s))
            return;
        if (SvOBJECT(sv) && s.object == ICECORE_NONE && SvTYPE(sv) != SVt_REGEXP && !w->set->no_bless
            && !has_fact(w, IW_SOURCE))
            /* The variable itself is blessed, and was not reached through a reference. */
            wrap(aTHX_ w, &s, ICECORE_OBJECT, 0,
                 ICE_CLASS(iw_class_of(aTHX_ w, SvSTASH(sv))->id) | ICE_FORM(ICECORE_FORM_VARIABLE));
        s.object = ICECORE_NONE;
        if (!SvROK(sv)) {
            put_scalar(aTHX_ w, &s);
            return;
        }
        if (has_fact(w, IW_TIES) && SvMAGICAL(sv) && w->rules->put_magical(aTHX_ w, sv, 0, s.key, s.wraps))
            return;
    } while (!put_ref(aTHX_ w, &s));
}
