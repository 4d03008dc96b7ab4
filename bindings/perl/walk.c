/* Perl values to the engine's tape.
 *
 * One loop with a stack of its own: depth costs memory, not the native stack.
 * An SV is looked up only if something else may refer to it too: its reference
 * count, or a weak reference to it, tells.
 *
 * Hooks, ties and magic may run any code, which may change or free what is being
 * walked. Before it runs, `pin` makes every open container safe: it is kept
 * alive, and what is left of a hash is listed. */
#include "leaf.h"

/* ---- appending --------------------------------------------------------- */

void
iw_more_nodes(pTHX_ walk *w)
{
    /* At least twice as many, and enough for a small hash. */
    if (icecore_grow_nodes(w->ctx->engine, w->t, w->t->node_count + 64) != ICECORE_OK)
        croak("Icecore: too many values, or not enough memory");
}

void
iw_more_arena(pTHX_ walk *w, STRLEN len)
{
    if (icecore_grow_arena(w->ctx->engine, w->t, w->t->arena_len + len) != ICECORE_OK)
        croak("Icecore: not enough memory");
}

void
iw_push_long_string(pTHX_ walk *w, U8 kind, U8 flags, U16 key, U64 offset, STRLEN len)
{
    U32 at = push(aTHX_ w, kind, flags, key, 0, 0);
    icecore_node *node = &w->t->nodes[at];
    if (icecore_long_string(w->ctx->engine, kind, offset, len, node) != ICECORE_OK)
        croak("Icecore: a string is too long");
    node->flags = flags;
    node->key = key;
}

/* ---- foreign code ------------------------------------------------------ */

/* The key of an entry as an SV; one that was UTF-8 is marked so. */
SV *
iw_key_sv(pTHX_ HE *he)
{
    return HeKLEN(he) == HEf_SVKEY ? newSVsv(HeKEY_sv(he)) : newSVhek(HeKEY_hek(he));
}

/* Whether a hash is stored with what its keys allow. */
PERL_STATIC_INLINE bool
is_restricted(walk *w, HV *hv)
{
    return w->storable && SvREADONLY((SV *)hv);
}

/* Lists what is left of a hash: keys and values in turn. */
static void
list_rest(pTHX_ walk *w, ice_walk_frame *frame)
{
    HV *hv = (HV *)frame->sv;
    AV *list = newAV();
    HE *he = frame->he;
    SSize_t at = frame->at;
    U32 max = (U32)HvMAX(hv);

    frame->restricted = is_restricted(w, hv);
    ice_keep(aTHX_ w->ctx, (SV *)list);
    while (HvARRAY(hv)) {
        for (; he; he = HeNEXT(he)) {
            SV *value = HeVAL(he);
            if (value == &PL_sv_placeholder && !w->storable)
                continue;
            av_push(list, iw_key_sv(aTHX_ he));
            av_push(list, SvREFCNT_inc_simple_NN(value));
        }
        if (at > (SSize_t)max)
            break;
        he = HvARRAY(hv)[(at ^ frame->order) & max];
        at++;
    }
    frame->kind = LISTED;
    frame->sv = (SV *)list;
    frame->at = 0;
    frame->he = NULL;
}

void
iw_pin(pTHX_ walk *w)
{
    U32 i;
    if (!w->owned) {
        w->owned = TRUE;
        if (w->set->owner)
            ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(w->set->owner));
    }
    for (i = w->ctx->depth; i--;) {
        ice_walk_frame *frame = &w->ctx->frames[i].walk;
        if (frame->pinned)
            break; /* and so are those below */
        frame->pinned = TRUE;
        if (frame->kind == ARRAY || frame->kind == HASH || frame->kind == TIED_HASH)
            ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(frame->sv));
        if (frame->kind == HASH)
            list_rest(aTHX_ w, frame);
        else if (frame->kind == TIED) {
            ice_keep(aTHX_ w->ctx, SvREFCNT_inc(frame->sv));
            ice_keep(aTHX_ w->ctx, SvREFCNT_inc(frame->other));
        }
    }
}

void
iw_get_magic(pTHX_ walk *w, SV *sv)
{
    iw_pin(aTHX_ w);
    ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(sv));
    mg_get(sv);
}

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
                                  (const U8 *)name, strlen(name));
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

/* ---- hash entries ------------------------------------------------------ */

/* In which order: Storable, JSON and Data::Dumper go as perl's own iterator would, Sereal along the
 * buckets, unless the hash has magic, as that of a restricted one. */
U32
iw_start_hash(pTHX_ walk *w, HV *hv)
{
    if (!w->storable && !w->json && !w->dumper && !SvMAGICAL((SV *)hv))
        return 0;
    if (!HvHasAUX(hv) && HvTOTALKEYS(hv))
        (void)hv_iterinit(hv);
#ifdef PERL_HASH_RANDOMIZE_KEYS
    return HvHasAUX(hv) ? HvAUX(hv)->xhv_rand : 0;
#else
    return 0;
#endif
}

PERL_STATIC_INLINE HE *
next_entry(ice_walk_frame *frame)
{
    HV *hv = (HV *)frame->sv;
    HE *he = frame->he;
    U32 max = (U32)HvMAX(hv);
    while (!he) {
        if (frame->at > (SSize_t)max)
            return NULL;
        he = HvARRAY(hv)[(frame->at ^ frame->order) & max];
        frame->at++;
    }
    frame->he = HeNEXT(he);
    return he;
}

/* A key that has no id, or must not have one: a node before the value. */
static U16
push_key(pTHX_ walk *w, const char *text, STRLEN len, bool is_utf8, U8 flags)
{
    push_string(aTHX_ w, is_utf8 ? ICECORE_TEXT : ICECORE_BYTES, flags, ICECORE_IS_KEY, text, len);
    return ICECORE_KEY_NODE;
}

static U16
push_key_sv(pTHX_ walk *w, SV *key, U8 flags)
{
    STRLEN len;
    const char *text = SvPV(key, len);
    if (SvUTF8(key) && w->storable && ice_is_ascii((const U8 *)text, len))
        flags |= ICECORE_BIT_6;
    return push_key(aTHX_ w, text, len, SvUTF8(key), flags);
}

static U16
push_key_he(pTHX_ walk *w, HE *he, U8 flags)
{
    if (HeKLEN(he) == HEf_SVKEY)
        return push_key_sv(aTHX_ w, HeKEY_sv(he), flags);
    if (HeKWASUTF8(he)) {
        STRLEN len = HeKLEN(he);
        U8 *text = bytes_to_utf8((const U8 *)HeKEY(he), &len);
        if (w->storable && len == (STRLEN)HeKLEN(he))
            flags |= ICECORE_BIT_6;
        push_key(aTHX_ w, (const char *)text, len, TRUE, flags);
        Safefree(text);
        return ICECORE_KEY_NODE;
    }
    return push_key(aTHX_ w, HeKEY(he), HeKLEN(he), HeKUTF8(he), flags);
}

/* The key of an entry: its id, or ICECORE_KEY_NODE after pushing it. */
PERL_STATIC_INLINE U16
key_of(pTHX_ walk *w, HE *he, bool ids)
{
    if (LIKELY(ids)) {
        U16 id = ice_key_id(aTHX_ w->ctx, he, w->storable);
        if (LIKELY(id))
            return id;
    }
    return push_key_he(aTHX_ w, he, 0);
}

/* ---- values ------------------------------------------------------------ */

static void
too_deep(pTHX_ walk *w)
{
    if (w->storable)
        croak("Max. recursion depth with nested structures exceeded");
    if (w->json)
        croak("json text or perl structure exceeds maximum nesting level (max_depth set too low?)");
    if (w->dumper)
        croak("Recursion limit of %" UVuf " exceeded", w->set->max_depth - w->is_list);
    croak("Hit maximum recursion depth (%" UVuf "), aborting serialization", w->set->max_depth);
}

ice_walk_frame *
iw_push_frame(pTHX_ walk *w, U8 kind, U32 node, U32 wraps, SV *sv)
{
    ice_walk_frame *frame;
    if (UNLIKELY(w->set->max_depth && w->ctx->depth + wraps >= w->set->max_depth))
        too_deep(aTHX_ w);
    frame = &ice_push_frame(aTHX_ w->ctx)->walk;
    Zero(frame, 1, ice_walk_frame);
    frame->kind = kind;
    frame->wraps = wraps;
    frame->node = node;
    frame->sv = sv;
    return frame;
}

/* What a reference refers to, if that is no scalar; `rv` may be NULL. */
static void
put_referent(pTHX_ walk *w, SV *rv, SV *sv, U8 flags, U16 key, U32 wraps, bool remember)
{
    const svtype type = SvTYPE(sv);
    ice_slot *slot = NULL;
    bool counted = FALSE;
    MAGIC *tie;

    if (SvREFCNT(sv) > 1 || remember || has_backrefs(aTHX_ sv)) {
        slot = ice_map_find(&w->ctx->seen, sv);
        if (slot) {
            push_again(aTHX_ w, ICECORE_LINK, flags, key, slot->value, wraps);
            return;
        }
        ice_map_add(&w->ctx->seen, sv, (U32)w->t->node_count);
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
                AV *list = iw_call_freeze(aTHX_ w, sv, index);
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
            push(aTHX_ w, ICECORE_OBJECT, flags, key, 1, (U64)id << 32);
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
    bool inner = FALSE;
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
        if (SvREFCNT(sv) > 1 || (inner && remember) || has_backrefs(aTHX_ sv)) {
            ice_slot *slot;
            if (is_immortal(aTHX_ sv) && is_always_own(aTHX_ w, sv)) {
                push_immortal(aTHX_ w, sv, key, item && !inner);
                end_wraps(w, wraps);
                return;
            }
            slot = ice_map_find(&w->ctx->seen, sv);
            if (slot) {
                push_again(aTHX_ w, ICECORE_ALIAS, 0, key, slot->value, wraps);
                return;
            }
            ice_map_add(&w->ctx->seen, sv, (U32)w->t->node_count)->object = object;
        }
        if (SvOBJECT(sv) && object == ICECORE_NONE && SvTYPE(sv) != SVt_REGEXP && !w->set->no_bless && !w->dumper) {
            /* The variable itself is blessed, and was not reached through a
             * reference. */
            ice_class *class = iw_class_of(aTHX_ w, SvSTASH(sv));
            push(aTHX_ w, ICECORE_OBJECT, flags | ICECORE_FORM_VARIABLE << 4, key, 1, (U64)class->id << 32);
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
        if (UNLIKELY(SvOBJECT(referent)) && !w->dumper && SvTYPE(referent) == SVt_PVHV
            && iw_class_of(aTHX_ w, SvSTASH(referent))->is_record) {
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
            }
            if (!slot && !w->set->no_bless) {
                object = push(aTHX_ w, ICECORE_OBJECT, flags, key, 1, (U64)class->id << 32);
                wraps++;
                key = 0;
                flags = 0;
            }
        }
        push(aTHX_ w, ICECORE_REF, flags, key, 1, 0);
        wraps++;
        refs++;
        if (UNLIKELY(w->set->max_depth && w->ctx->depth + wraps >= w->set->max_depth))
            too_deep(aTHX_ w);
        key = 0;
        inner = TRUE;
        sv = referent;
    }
}

/* ---- the loop ---------------------------------------------------------- */

/* Of how many levels the whole may be that is put without frames, and a part of
 * one that could not be: what fails is walked twice. */
#define LEVELS 32
#define FEW_LEVELS 2

PERL_STATIC_INLINE int
few_levels(const walk *w)
{
    const UV left = w->set->max_depth - w->ctx->depth;
    return (w->json || w->dumper) && w->set->max_depth && left < FEW_LEVELS ? (int)left : FEW_LEVELS;
}

/* Whether a reference may lead to something plain. */
PERL_STATIC_INLINE bool
is_plain_ref(const walk *w, SV *sv)
{
    return SvROK(sv) && SvREFCNT(sv) == 1 && SvTYPE(sv) < SVt_PVMG && !w->set->shown_depth;
}

/* The container on top is complete. */
static void
close_frame(walk *w)
{
    const ice_walk_frame *frame = &w->ctx->frames[--w->ctx->depth].walk;
    end_node(w, frame->node, (U32)frame->count, frame->wraps);
}

static void
walk_array(pTHX_ walk *w)
{
    const U32 depth = w->ctx->depth;
    ice_walk_frame *frame = &w->ctx->frames[depth - 1].walk;
    AV *av = (AV *)frame->sv;

    while (frame->at < frame->count) {
        SSize_t at = frame->at++;
        SV *sv;
        if (UNLIKELY(frame->is_tied)) {
            SV **found;
            iw_pin(aTHX_ w);
            found = av_fetch(av, at, 0);
            sv = found ? *found : NULL;
            if (sv)
                ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(sv));
        } else
            sv = at <= AvFILLp(av) ? AvARRAY(av)[at] : NULL;
        if (UNLIKELY(!sv)) {
            push(aTHX_ w, ICECORE_HOLE, 0, 0, 0, 0);
            continue;
        }
        if (is_simple(sv)) {
            leaf(aTHX_ w, sv, 0, 0, TRUE);
            continue;
        }
        if (is_plain_ref(w, sv) && iw_put_plain(aTHX_ w, sv, 0, few_levels(w), FALSE))
            continue;
        iw_put(aTHX_ w, sv, 0, TRUE, FALSE);
        if (w->ctx->depth != depth)
            return;
        frame = &w->ctx->frames[depth - 1].walk;
    }
    close_frame(w);
}

static void
walk_hash(pTHX_ walk *w)
{
    const U32 depth = w->ctx->depth;
    ice_walk_frame *frame = &w->ctx->frames[depth - 1].walk;
    HV *hv = (HV *)frame->sv;
    const bool ids = HvTOTALKEYS(hv) <= ICECORE_MOST_IDS;
    const bool restricted = is_restricted(w, hv);
    HE *he;

    while ((he = next_entry(frame))) {
        SV *value = HeVAL(he);
        U16 key;
        if (UNLIKELY(value == &PL_sv_placeholder)) {
            if (w->storable) {
                frame->count++;
                /* Without flags for keys, an absent one is stored as if it had
                 * perl's own undef. */
                if (restricted || HvHASKFLAGS(hv)) {
                    key = push_key_he(aTHX_ w, he, ICECORE_BIT_5);
                    push(aTHX_ w, ICECORE_HOLE, 0, key, 0, 0);
                } else {
                    key = key_of(aTHX_ w, he, ids);
                    push(aTHX_ w, ICECORE_NULL, ICECORE_BIT_4, key, 0, 0);
                }
            }
            continue;
        }
        frame->count++;
        if (UNLIKELY(restricted && SvREADONLY(value)))
            key = push_key_he(aTHX_ w, he, ICECORE_BIT_4);
        else
            key = key_of(aTHX_ w, he, ids);
        if (is_simple(value)) {
            leaf(aTHX_ w, value, 0, key, FALSE);
            continue;
        }
        if (is_plain_ref(w, value) && iw_put_plain(aTHX_ w, value, key, few_levels(w), FALSE))
            continue;
        iw_put(aTHX_ w, value, key, FALSE, FALSE);
        if (w->ctx->depth != depth)
            return;
        frame = &w->ctx->frames[depth - 1].walk;
        if (frame->kind != HASH)
            return;
    }
    close_frame(w);
}

static void
walk_tied(pTHX_ walk *w)
{
    ice_walk_frame *frame = &w->ctx->frames[w->ctx->depth - 1].walk;
    SV **part = frame->sv ? &frame->sv : &frame->other, *sv = *part;
    if (sv) {
        *part = NULL;
        frame->count++;
        iw_put(aTHX_ w, sv, 0, FALSE, FALSE);
        return;
    }
    if (frame->by_index) {
        frame->count++;
        push(aTHX_ w, ICECORE_INT, 0, 0, 0, (U64)(I64)frame->at);
    }
    close_frame(w);
}

static void
walk_listed(pTHX_ walk *w)
{
    const U32 depth = w->ctx->depth;
    ice_walk_frame *frame = &w->ctx->frames[depth - 1].walk;

    while (frame->at <= AvFILLp((AV *)frame->sv)) {
        SV **list = AvARRAY((AV *)frame->sv);
        SV *key_text = list[frame->at], *value = list[frame->at + 1];
        U16 key;
        frame->at += 2;
        frame->count++;
        if (value == &PL_sv_placeholder) {
            key = push_key_sv(aTHX_ w, key_text, frame->restricted ? ICECORE_BIT_5 : 0);
            push(aTHX_ w, frame->restricted ? ICECORE_HOLE : ICECORE_NULL, frame->restricted ? 0 : ICECORE_BIT_4, key, 0, 0);
            continue;
        }
        key = push_key_sv(aTHX_ w, key_text, frame->restricted && SvREADONLY(value) ? ICECORE_BIT_4 : 0);
        /* The list holds it too. */
        if (SvREFCNT(value) == 2 && SvTYPE(value) < SVt_PVMG && !SvROK(value)) {
            leaf(aTHX_ w, value, 0, key, FALSE);
            continue;
        }
        iw_put(aTHX_ w, value, key, FALSE, FALSE);
        if (w->ctx->depth != depth)
            return;
        frame = &w->ctx->frames[depth - 1].walk;
    }
    close_frame(w);
}

static void
walk_tied_hash(pTHX_ walk *w)
{
    const U32 depth = w->ctx->depth;
    ice_walk_frame *frame = &w->ctx->frames[depth - 1].walk;
    HV *hv = (HV *)frame->sv;
    HE *he;

    iw_pin(aTHX_ w);
    while ((he = hv_iternext(hv))) {
        SV *value = hv_iterval(hv, he);
        U16 key;
        frame = &w->ctx->frames[depth - 1].walk;
        frame->count++;
        ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(value));
        key = push_key_he(aTHX_ w, he, 0);
        iw_put(aTHX_ w, value, key, FALSE, FALSE);
        if (w->ctx->depth != depth)
            return;
    }
    close_frame(w);
}

static void
run(pTHX_ walk *w)
{
    while (w->ctx->depth) {
        ice_walk_frame *frame = &w->ctx->frames[w->ctx->depth - 1].walk;
        switch (frame->kind) {
        case ARRAY:
            walk_array(aTHX_ w);
            break;
        case HASH:
            walk_hash(aTHX_ w);
            break;
        case LISTED:
            walk_listed(aTHX_ w);
            break;
        case TIED:
            walk_tied(aTHX_ w);
            break;
        case TIED_HASH:
            walk_tied_hash(aTHX_ w);
            break;
        case HOOK:
            iw_walk_hook(aTHX_ w);
            break;
        default:
            close_frame(w);
        }
    }
}

/* Begins an empty tape. */
void
iw_begin(pTHX_ walk *w)
{
    if (icecore_begin(w->ctx->engine, w->t) != ICECORE_OK)
        croak("Icecore: not enough memory");
    ice_keys_check(aTHX_ w->ctx, w->t->key_generation);
    w->parts = 0;
}

void
iw_finish(pTHX_ walk *w)
{
    if (w->t->arena_capacity - w->t->arena_len < SLACK)
        iw_more_arena(aTHX_ w, SLACK);
    Zero(w->t->arena + w->t->arena_len, SLACK, U8);
    w->t->arena_len += SLACK;
}

static void
begin(pTHX_ walk *w, ice_context *ctx, icecore_tape *tape, const ice_write_settings *settings)
{
    w->ctx = ctx;
    w->t = tape;
    w->set = settings;
    w->last_stash = NULL;
    w->last_class = NULL;
    w->storable = settings->profile == ICE_STORABLE;
    w->sereal = settings->profile == ICE_SEREAL;
    w->json = settings->profile == ICE_JSON;
    w->dumper = settings->profile == ICE_DUMPER;
    w->sorted = settings->sorted || (w->json && ij_is_sorted(settings->json));
    w->is_list = FALSE;
    w->owned = FALSE;
    w->stage = NULL;
    iw_begin(aTHX_ w);
}

void
ice_walk(pTHX_ ice_context *ctx, icecore_tape *tape, SV *sv, const ice_write_settings *settings,
         const icecore_stage *stage)
{
    walk w;
    begin(aTHX_ & w, ctx, tape, settings);
    /* What refers to the variable can't be in it, where all that is in it has one
     * reference only. */
    if (SvROK(sv) && (!settings->max_depth || settings->max_depth > LEVELS)) {
        w.stage = stage;
        if (iw_put_plain(aTHX_ & w, sv, 0, LEVELS, TRUE)) {
            iw_finish(aTHX_ & w);
            return;
        }
    }
    /* Storable stores what the reference refers to: the variable that holds the
     * reference is not a part of it. */
    if (w.storable && SvREFCNT(sv) > 1)
        sv = sv_2mortal(newRV_inc(SvRV(sv)));
    iw_put(aTHX_ & w, sv, 0, FALSE, FALSE);
    run(aTHX_ & w);
    iw_finish(aTHX_ & w);
}

void
ice_walk_list(pTHX_ ice_context *ctx, icecore_tape *tape, AV *list, const ice_write_settings *settings)
{
    walk w;
    U32 at;
    SV *only = AvFILLp(list) == 0 ? AvARRAY(list)[0] : NULL;
    begin(aTHX_ & w, ctx, tape, settings);
    w.is_list = TRUE;
    at = push(aTHX_ & w, ICECORE_ARRAY, 0, 0, 0, 0);
    if (only && SvROK(only) && !settings->shown_depth && (!settings->max_depth || settings->max_depth > LEVELS)
        && iw_put_plain(aTHX_ & w, only, 0, LEVELS, TRUE)) {
        end_node(&w, at, 1, 0);
        iw_finish(aTHX_ & w);
        return;
    }
    iw_push_frame(aTHX_ & w, ARRAY, at, 0, (SV *)list)->count = AvFILLp(list) + 1;
    run(aTHX_ & w);
    iw_finish(aTHX_ & w);
}

void
ice_walk_header(pTHX_ ice_context *ctx, icecore_tape *tape, SV *header, SV *body, const ice_write_settings *settings)
{
    walk w;
    begin(aTHX_ & w, ctx, tape, settings);
    iw_put(aTHX_ & w, header, 0, FALSE, FALSE);
    run(aTHX_ & w);
    tape->header = 0;
    tape->root = (U32)tape->node_count;
    /* The header has offsets of its own: nothing in the body refers to it. */
    if (ctx->seen.used)
        ice_map_clear(&ctx->seen);
    iw_put(aTHX_ & w, body, 0, FALSE, FALSE);
    run(aTHX_ & w);
    iw_finish(aTHX_ & w);
}
