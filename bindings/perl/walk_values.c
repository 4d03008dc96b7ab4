/* Values: what a variable holds, and what a reference refers to. */
#include "leaf.h"

/* ---- classes ----------------------------------------------------------- */

static void
use_hook(pTHX_ walk *w, ice_class *class)
{
    if (w->storable)
        class->hook = ice_method(aTHX_ class->stash, "STORABLE_freeze");
    else if (w->sereal && w->set->freeze_callbacks) {
        if (w->set->freeze_allow) {
            HEK *name = HvNAME_HEK(class->stash);
            if (!name || !hv_common(w->set->freeze_allow, NULL, HEK_KEY(name), HEK_LEN(name),
                                    HEK_UTF8(name) ? HVhek_UTF8 : 0, HV_FETCH_ISEXISTS, NULL, 0))
                return;
        }
        class->hook = ice_method(aTHX_ class->stash, "FREEZE");
    }
}

ice_class *
iw_class_of(pTHX_ walk *w, HV *stash)
{
    ice_context *ctx = w->ctx;
    ice_slot *slot;
    ice_class *class;
    const char *name;

    if (w->last_stash == stash)
        return w->last_class;
    slot = ice_map_find(&ctx->stashes, stash);
    if (!slot) {
        if (ctx->class_count == ctx->class_room) {
            ctx->class_room = ctx->class_room ? ctx->class_room * 2 : 16;
            Renew(ctx->classes, ctx->class_room, ice_class);
        }
        class = &ctx->classes[ctx->class_count];
        Zero(class, 1, ice_class);
        class->stash = stash;
        name = HvNAME_get(stash);
        if (!name)
            name = "__ANON__";
        class->id = icecore_class(ctx->engine, HvNAME_get(stash) && HvNAMEUTF8(stash) ? ICECORE_TEXT : ICECORE_BYTES,
                                  (const U8 *)name,
                                  /* Storable takes a name up to a NUL. */
                                  w->storable || !HvNAME_get(stash) ? strlen(name) : (STRLEN)HvNAMELEN_get(stash));
        if (!class->id)
            croak("Icecore: too many classes");
        class->has_amagic = w->storable && Gv_AMG(stash);
        class->is_record = !w->set->cloning && strEQ(name, "Icecore::Record");
        use_hook(aTHX_ w, class);
        slot = ice_map_add(&ctx->stashes, stash, ctx->class_count++);
    }
    w->last_stash = stash;
    w->last_class = &ctx->classes[slot->value];
    return w->last_class;
}

/* ---- scalars ----------------------------------------------------------- */

/* Whether a string that was used as an integer looks like that integer. */
bool
iw_is_integer_text(pTHX_ SV *sv)
{
    const char *text = SvPVX_const(sv);
    STRLEN len = SvCUR(sv);
    bool same;
    if (!SvIsUV(sv) && SvIVX(sv) == 0)
        return len == 1 && *text == '0';
    if (len == 0 || !isDIGIT(text[len - 1]))
        return FALSE;
    if (SvIsUV(sv) || SvIVX(sv) > 0) {
        if (text[0] == '0' || !isDIGIT(text[0]))
            return FALSE;
    } else if (len < 2 || text[0] != '-' || text[1] == '0' || !isDIGIT(text[1]))
        return FALSE;
    if (!SvNOK(sv))
        return TRUE;
    {
        SV *number = SvIsUV(sv) ? newSVuv(SvUVX(sv)) : newSViv(SvIVX(sv));
        same = sv_eq_flags(number, sv, 0);
        SvREFCNT_dec(number);
    }
    return same;
}

/* Whether a string that was used as a float is one that Sereal takes for it. */
bool
iw_is_float_text(pTHX_ SV *sv)
{
    const char *text = SvPVX_const(sv);
    STRLEN len = SvCUR(sv);
    if (len <= 8 || !isDIGIT(text[0]) || !isDIGIT(text[len - 1]) || text[len - 1] == '0')
        return FALSE;
    if (SvNVX(sv) > 0.0)
        return !(text[0] == '0' && text[1] != '.');
    return FALSE;
}

/* What a reference refers to, if that is no scalar; `rv` may be NULL. */
static void
put_referent(pTHX_ walk *w, SV *rv, SV *sv, U8 flags, U16 key, U32 wraps, bool remember)
{
    const svtype type = SvTYPE(sv);
    ice_slot *slot = NULL;
    bool counted = FALSE, is_known = FALSE;
    MAGIC *tie;

    if (SvREFCNT(sv) > 1 || remember || has_backrefs(aTHX_ sv)) {
        slot = ice_map_find(&w->ctx->seen, sv);
        if (slot) {
            push_again(aTHX_ w, ICECORE_LINK, flags, key, slot->value, wraps);
            return;
        }
        ice_map_add(&w->ctx->seen, sv, (U32)w->t->node_count);
        is_known = TRUE;
        /* Sereal has another form for what may be referred to again. */
        counted = w->sereal;
    }
    if (SvOBJECT(sv) && w->set->croak_on_bless)
        iw_refuse_object(aTHX);
    if (SvOBJECT(sv) && !(type == SVt_REGEXP && SvSTASH(sv) == gv_stashpvs("Regexp", GV_ADD))) {
        ice_class *class = iw_class_of(aTHX_ w, SvSTASH(sv));
        U32 index = (U32)(class - w->ctx->classes), id = class->id;
        if (class->hook && !class->hook_ignored) {
            if (w->storable) {
                AV *list;
                /* The hook may return the object itself. */
                if (!is_known)
                    ice_map_add(&w->ctx->seen, sv, (U32)w->t->node_count);
                list = iw_call_freeze(aTHX_ w, sv, index);
                w->last_stash = NULL;
                if (list) {
                    iw_put_hook(aTHX_ w, sv, list, id, flags, key, wraps);
                    return;
                }
            } else {
                iw_put_frozen(aTHX_ w, sv, class, flags, key, wraps);
                return;
            }
        }
        if (!w->set->no_bless) {
            push(aTHX_ w, ICECORE_OBJECT, flags, key, 1, ICE_CLASS(id));
            wraps++;
            key = 0;
            flags = 0;
        }
    }
    switch (type) {
    case SVt_PVAV:
    case SVt_PVHV:
        if (counted)
            flags |= ICECORE_BIT_7;
        tie = tie_of(aTHX_ sv);
        if (tie && w->storable) {
            U8 form = type == SVt_PVAV ? ICECORE_FORM_TIED_ARRAY : ICECORE_FORM_TIED_HASH;
            iw_push_tied(aTHX_ w, form, tie->mg_obj, flags, key, wraps);
            return;
        }
        if (type == SVt_PVAV) {
            U32 at = push(aTHX_ w, ICECORE_ARRAY, flags, key, 0, 0);
            ice_walk_frame *frame;
            if (SvRMAGICAL(sv) && tie) {
                iw_pin(aTHX_ w);
                frame = iw_push_frame(aTHX_ w, ARRAY, at, wraps, sv);
                frame->count = av_len((AV *)sv) + 1;
                frame->is_tied = TRUE;
                return;
            }
            iw_push_frame(aTHX_ w, ARRAY, at, wraps, sv)->count = AvFILLp((AV *)sv) + 1;
            return;
        }
        {
            HV *hv = (HV *)sv;
            U32 at;
            ice_walk_frame *frame;
            if (w->storable) {
                if (SvREADONLY(sv))
                    flags |= ICECORE_BIT_4;
                else if (HvHASKFLAGS(hv))
                    flags |= ICECORE_BIT_7;
            }
            at = push(aTHX_ w, ICECORE_MAP, flags, key, 0, 0);
            if (tie && !w->sorted) {
                iw_pin(aTHX_ w);
                frame = iw_push_frame(aTHX_ w, TIED_HASH, at, wraps, sv);
                (void)hv_iterinit(hv);
                return;
            }
            frame = iw_push_frame(aTHX_ w, HASH, at, wraps, sv);
            if (UNLIKELY(w->sorted)) {
                iw_list_sorted(aTHX_ w, frame);
                return;
            }
            if (HvTOTALKEYS(hv) == 0 || !HvARRAY(hv)) {
                frame->at = (SSize_t)HvMAX(hv) + 1;
                return;
            }
            frame->order = iw_start_hash(aTHX_ w, hv);
        }
        return;
#if ICE_HAS_CLASS
    case SVt_PVOBJ: {
        AV *list = newAV();
        U32 at;
        ice_keep(aTHX_ w->ctx, (SV *)list);
        ice_fields(aTHX_ sv, list);
        at = push(aTHX_ w, ICECORE_MAP, flags, key, 0, 0);
        iw_push_frame(aTHX_ w, LISTED, at, wraps, (SV *)list)->pinned = TRUE;
        return;
    }
#endif
    case SVt_PVCV:
        iw_put_code(aTHX_ w, rv, sv, flags, key, wraps);
        return;
    case SVt_REGEXP:
        iw_put_regexp(aTHX_ w, sv, SvOBJECT(sv) ? flags : flags | ICECORE_BIT_4, key, wraps);
        return;
    default:
        iw_put_unknown(aTHX_ w, rv, sv, flags, key, wraps);
    }
}

/* The value of a variable: an item, the value of an entry, what a reference to a
 * scalar refers to. With `remember` what it refers to may come again, whatever
 * its count says. */
void
iw_put(pTHX_ walk *w, SV *sv, U16 key, bool item, bool remember)
{
    U32 wraps = 0, refs = 0;
    U32 object = ICECORE_NONE;
    bool inner = FALSE, declined = FALSE;
    record_body body = { FALSE, FALSE };
    if (w->json) {
        ij_put(aTHX_ w, sv, key);
        return;
    }
    for (;;) {
        U8 flags = 0;
        SV *referent;

        if (SvMAGICAL(sv) && !w->storable && SvGMAGICAL(sv))
            iw_get_magic(aTHX_ w, sv);
        if (SvREFCNT(sv) > 1 || (inner && remember) || declined || has_backrefs(aTHX_ sv)) {
            ice_slot *slot;
            if (is_immortal(aTHX_ sv) && is_always_own(aTHX_ w, sv)) {
                /* Hooks may name the first one that is no item of an array. */
                if (w->storable && (inner || !item) && !ice_map_find(&w->ctx->seen, sv))
                    ice_map_add(&w->ctx->seen, sv, (U32)w->t->node_count);
                push_immortal(aTHX_ w, sv, key, item && !inner);
                end_wraps(w, wraps);
                return;
            }
            slot = ice_map_find(&w->ctx->seen, sv);
            if (slot && !declined) {
                push_again(aTHX_ w, ICECORE_ALIAS, 0, key, slot->value, wraps);
                return;
            }
            if (slot)
                slot->value = (U32)w->t->node_count;
            else
                slot = ice_map_add(&w->ctx->seen, sv, (U32)w->t->node_count);
            slot->object = object;
            declined = FALSE;
        }
        if (SvOBJECT(sv) && object == ICECORE_NONE && SvTYPE(sv) != SVt_REGEXP && !w->set->no_bless && !w->dumper) {
            /* The variable itself is blessed, and was not reached through a
             * reference. */
            ice_class *class = iw_class_of(aTHX_ w, SvSTASH(sv));
            push(aTHX_ w, ICECORE_OBJECT, flags, key, 1,
                 ICE_CLASS(class->id) | ICE_FORM(ICECORE_FORM_VARIABLE));
            wraps++;
            key = 0;
            flags = 0;
        }
        object = ICECORE_NONE;
        if (!SvROK(sv)) {
            if (SvTYPE(sv) >= SVt_PVMG) {
                if (SvTYPE(sv) == SVt_REGEXP) {
                    iw_put_regexp(aTHX_ w, sv, flags | ICECORE_BIT_4, key, wraps);
                    return;
                }
                if (isGV_with_GP(sv) || SvTYPE(sv) > SVt_PVLV) {
                    iw_put_unknown(aTHX_ w, NULL, sv, flags, key, wraps);
                    return;
                }
                if (((w->storable && SvMAGICAL(sv)) || (w->dumper && SvVOK(sv)))
                    && iw_put_magical(aTHX_ w, sv, flags, key, wraps))
                    return;
            }
            leaf(aTHX_ w, sv, flags, key, item && !inner);
            end_wraps(w, wraps);
            return;
        }
        if (w->storable && SvMAGICAL(sv) && iw_put_magical(aTHX_ w, sv, flags, key, wraps))
            return;
        if (UNLIKELY(w->dumper)) {
            if (w->set->freezer)
                iw_freeze_first(aTHX_ w, sv);
            if (w->set->shown_depth && iw_put_address(aTHX_ w, sv, key, refs)) {
                end_wraps(w, wraps);
                return;
            }
        }
        referent = SvRV(sv);
        if (UNLIKELY(SvOBJECT(referent)) && SvTYPE(referent) == SVt_PVHV
            && (!w->dumper || iw_is_regexp_record(aTHX_ referent)) && iw_class_of(aTHX_ w, SvSTASH(referent))->is_record) {
            sv = iw_put_record(aTHX_ w, sv, &key, &wraps, &body, remember);
            if (!sv)
                return;
            inner = TRUE;
            remember = FALSE;
            continue;
        }
        flags |= body.is_body ? body.hint && !is_scalar(referent) ? ICECORE_BIT_7 : 0 : REFERENCE;
        body.is_body = FALSE;
        if (SvWEAKREF(sv))
            flags |= ICECORE_IS_WEAK;
        if (SvOBJECT(referent) && w->storable && iw_class_of(aTHX_ w, SvSTASH(referent))->has_amagic)
            flags |= ICECORE_IS_OVERLOAD;
        if (!is_scalar(referent) && !(w->dumper && isGV_with_GP(referent))) {
            put_referent(aTHX_ w, sv, referent, flags, key, wraps, remember);
            return;
        }
        if (SvOBJECT(referent)) {
            ice_slot *slot = ice_map_find(&w->ctx->seen, referent);
            ice_class *class = iw_class_of(aTHX_ w, SvSTASH(referent));
            if (slot && slot->object != ICECORE_NONE) {
                push_again(aTHX_ w, ICECORE_LINK, flags, key, slot->object, wraps);
                return;
            }
            if (w->set->croak_on_bless)
                iw_refuse_object(aTHX);
            if (!slot && class->hook && !class->hook_ignored) {
                U32 index = (U32)(class - w->ctx->classes), id = class->id;
                U32 here = (U32)w->t->node_count;
                AV *list;
                ice_map_add(&w->ctx->seen, referent, here)->object = here;
                if (w->storable) {
                    list = iw_call_freeze(aTHX_ w, referent, index);
                    w->last_stash = NULL;
                    if (list) {
                        iw_put_hook(aTHX_ w, referent, list, id, flags, key, wraps);
                        return;
                    }
                } else {
                    iw_put_frozen(aTHX_ w, referent, class, flags, key, wraps);
                    return;
                }
                class = &w->ctx->classes[index];
                declined = TRUE; /* it was noted as an object of its own, which it is not */
            }
            if (!slot && !w->set->no_bless) {
                object = push(aTHX_ w, ICECORE_OBJECT, flags, key, 1, ICE_CLASS(class->id));
                wraps++;
                key = 0;
                flags = 0;
            }
        }
        push(aTHX_ w, ICECORE_REF, flags, key, 1, 0);
        wraps++;
        refs++;
        if (UNLIKELY(w->set->max_depth && w->ctx->depth + wraps >= w->set->max_depth))
            iw_too_deep(aTHX_ w);
        key = 0;
        inner = TRUE;
        sv = referent;
    }
}
