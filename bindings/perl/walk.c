/* Perl values to the engine's tape.
 *
 * One loop with a stack of its own: depth costs memory, not the native stack.
 * An SV is looked up only if something else may refer to it too: its reference
 * count, or a weak reference to it, tells.
 *
 * Hooks, ties and magic may run any code, which may change or free what is being
 * walked. Before it runs, `pin` makes every open container safe: it is kept
 * alive, and what is left of a hash is listed. */
#include "icecore_perl.h"

enum { ARRAY, HASH, LISTED, HOOK, TIED_HASH, HEADER };

typedef struct {
    ice_context *ctx;
    icecore_tape *t;
    const ice_write_settings *set;
    HV *last_stash;
    ice_class *last_class;
    bool storable;
    bool sereal;
    bool owned; /* foreign code may drop the encoder */
} walk;

#define REFERENCE ICECORE_IS_REF

/* ---- appending --------------------------------------------------------- */

static void
more_nodes(pTHX_ walk *w)
{
    /* At least twice as many, and enough for a small hash. */
    if (icecore_grow_nodes(w->ctx->engine, w->t, w->t->node_count + 64) != ICECORE_OK)
        croak("Icecore: too many values, or not enough memory");
}

static void
more_arena(pTHX_ walk *w, STRLEN len)
{
    if (icecore_grow_arena(w->ctx->engine, w->t, w->t->arena_len + len) != ICECORE_OK)
        croak("Icecore: not enough memory");
}

PERL_STATIC_INLINE U32
push(pTHX_ walk *w, U8 kind, U8 flags, U16 key, U32 aux, U64 payload)
{
    icecore_node *node;
    if (UNLIKELY(w->t->node_count == w->t->node_capacity))
        more_nodes(aTHX_ w);
    node = &w->t->nodes[w->t->node_count];
    node->kind = kind;
    node->flags = flags;
    node->key = key;
    node->aux = aux;
    node->payload = payload;
    return (U32)w->t->node_count++;
}

PERL_STATIC_INLINE void
copy_short(U8 *to, const U8 *from, STRLEN len)
{
    if (len > 16)
        memcpy(to, from, len);
    else if (len >= 8) {
        U64 a, b;
        memcpy(&a, from, 8);
        memcpy(&b, from + len - 8, 8);
        memcpy(to, &a, 8);
        memcpy(to + len - 8, &b, 8);
    } else if (len >= 4) {
        U32 a, b;
        memcpy(&a, from, 4);
        memcpy(&b, from + len - 4, 4);
        memcpy(to, &a, 4);
        memcpy(to + len - 4, &b, 4);
    } else
        while (len--)
            *to++ = *from++;
}

/* So that writers can copy short strings as blocks. */
#define SLACK 32

static void
push_long_string(pTHX_ walk *w, U8 kind, U8 flags, U16 key, U64 offset, STRLEN len)
{
    U32 at = push(aTHX_ w, kind, flags, key, 0, 0);
    icecore_node *node = &w->t->nodes[at];
    if (icecore_long_string(w->ctx->engine, kind, offset, len, node) != ICECORE_OK)
        croak("Icecore: a string is too long");
    node->flags = flags;
    node->key = key;
}

PERL_STATIC_INLINE void
push_string(pTHX_ walk *w, U8 kind, U8 flags, U16 key, const char *text, STRLEN len)
{
    U64 offset;
    if (UNLIKELY(w->t->arena_capacity - w->t->arena_len < len + SLACK))
        more_arena(aTHX_ w, len + SLACK);
    offset = w->t->arena_len;
    copy_short(w->t->arena + offset, (const U8 *)text, len);
    w->t->arena_len += len;
    if (UNLIKELY(len >= ICECORE_LONG))
        push_long_string(aTHX_ w, kind, flags, key, offset, len);
    else
        push(aTHX_ w, kind, flags, key, (U32)len, offset | ICECORE_IN_ARENA);
}

/* Ends the node at `at`, and those before it that wrap it. */
PERL_STATIC_INLINE void
end_node(walk *w, U32 at, U32 count, U32 wraps)
{
    U64 end = w->t->node_count;
    icecore_node *node = &w->t->nodes[at];
    node->aux = count;
    node->payload = (node->payload & ~UINT64_C(0xFFFFFFFF)) | end;
    while (wraps--) {
        node--;
        node->aux = 1;
        node->payload = (node->payload & ~UINT64_C(0xFFFFFFFF)) | end;
    }
}

/* Ends wrappers around a leaf that was pushed last. */
PERL_STATIC_INLINE void
end_wraps(walk *w, U32 wraps)
{
    U32 end = (U32)w->t->node_count;
    if (wraps)
        end_node(w, end - 2, 1, wraps - 1);
}

/* What was pushed as node `to`, again. */
static void
push_again(pTHX_ walk *w, U8 kind, U8 flags, U16 key, U32 to, U32 wraps)
{
    w->t->nodes[to].flags |= ICECORE_IS_TARGET;
    push(aTHX_ w, kind, flags, key, 0, to);
    end_wraps(w, wraps);
}

/* ---- foreign code ------------------------------------------------------ */

/* The key of an entry as an SV; one that was UTF-8 is marked so. */
static SV *
key_sv(pTHX_ HE *he)
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
list_rest(pTHX_ walk *w, ice_frame *frame)
{
    HV *hv = (HV *)frame->sv;
    AV *list = newAV();
    HE *he = frame->he;
    SSize_t at = frame->at;
    U32 max = (U32)HvMAX(hv);

    frame->spare = is_restricted(w, hv);
    ice_keep(aTHX_ w->ctx, (SV *)list);
    while (HvARRAY(hv)) {
        for (; he; he = HeNEXT(he)) {
            SV *value = HeVAL(he);
            if (value == &PL_sv_placeholder && !w->storable)
                continue;
            av_push(list, key_sv(aTHX_ he));
            av_push(list, SvREFCNT_inc_simple_NN(value));
        }
        if (at > (SSize_t)max)
            break;
        he = HvARRAY(hv)[(at ^ frame->rand) & max];
        at++;
    }
    frame->kind = LISTED;
    frame->sv = (SV *)list;
    frame->at = 0;
    frame->he = NULL;
}

static void
pin(pTHX_ walk *w)
{
    U32 i;
    if (!w->owned) {
        w->owned = TRUE;
        if (w->set->owner)
            ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(w->set->owner));
    }
    for (i = w->ctx->depth; i--;) {
        ice_frame *frame = &w->ctx->frames[i];
        if (frame->pinned)
            break; /* and so are those below */
        frame->pinned = TRUE;
        if (frame->kind == ARRAY || frame->kind == HASH || frame->kind == TIED_HASH)
            ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(frame->sv));
        if (frame->kind == HASH)
            list_rest(aTHX_ w, frame);
        else if (frame->kind == LISTED && !frame->sv && frame->he) /* the key of a tied element */
            ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN((SV *)frame->he));
    }
}

static void
get_magic(pTHX_ walk *w, SV *sv)
{
    pin(aTHX_ w);
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

static ice_class *
class_of(pTHX_ walk *w, HV *stash)
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

static void
push_int(pTHX_ walk *w, SV *sv, U8 flags, U16 key)
{
    if (SvIsUV(sv) && SvUVX(sv) > (UV)IV_MAX)
        push(aTHX_ w, ICECORE_UINT, flags, key, 0, (U64)SvUVX(sv));
    else
        push(aTHX_ w, ICECORE_INT, flags, key, 0, (U64)(I64)SvIVX(sv));
}

PERL_STATIC_INLINE void
push_float(pTHX_ walk *w, NV value, U8 flags, U16 key)
{
    U64 bits;
    double number = (double)value;
    memcpy(&bits, &number, 8);
    push(aTHX_ w, ICECORE_FLOAT, flags, key, 0, bits);
}

static void
push_pv(pTHX_ walk *w, SV *sv, U8 flags, U16 key)
{
    STRLEN len;
    const char *text = SvPV_nomg(sv, len);
    push_string(aTHX_ w, SvUTF8(sv) ? ICECORE_TEXT : ICECORE_BYTES, flags, key, text, len);
}

/* Storable prefers the string, then the integer, then the float. */
PERL_STATIC_INLINE void
storable_leaf(pTHX_ walk *w, SV *sv, U8 flags, U16 key, bool item)
{
    const U32 f = SvFLAGS(sv);
    if (f & SVf_POK) {
        if (UNLIKELY(SvREADONLY(sv) && (sv == &PL_sv_yes || sv == &PL_sv_no)))
            push(aTHX_ w, ICECORE_BOOL, flags, key, 0, sv == &PL_sv_yes);
#if PERL_VERSION_GE(5, 37, 0)
        else if (UNLIKELY(SvIsBOOL(sv) && !SvREADONLY(sv)))
            push(aTHX_ w, ICECORE_BOOL, flags | ICECORE_BIT_5, key, 0, SvTRUE_nomg_NN(sv));
#endif
        else
            push_string(aTHX_ w, f & SVf_UTF8 ? ICECORE_TEXT : ICECORE_BYTES, flags, key, SvPVX_const(sv), SvCUR(sv));
    } else if (f & SVf_IOK)
        push_int(aTHX_ w, sv, flags, key);
    else if (f & SVf_NOK)
        push_float(aTHX_ w, SvNVX(sv), flags, key);
    else if (!(f & (SVf_IOK | SVf_NOK | SVf_POK | SVf_ROK | SVp_IOK | SVp_NOK | SVp_POK))) {
        if (UNLIKELY(sv == &PL_sv_undef))
            flags |= item ? ICECORE_BIT_4 | ICECORE_BIT_5 : ICECORE_BIT_4;
        push(aTHX_ w, ICECORE_NULL, flags, key, 0, 0);
    } else
        push_pv(aTHX_ w, sv, flags, key);
}

/* Whether a string that was used as an integer looks like that integer. */
static bool
is_integer_text(pTHX_ SV *sv)
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
static bool
is_float_text(pTHX_ SV *sv)
{
    const char *text = SvPVX_const(sv);
    STRLEN len = SvCUR(sv);
    if (len <= 8 || !isDIGIT(text[0]) || !isDIGIT(text[len - 1]) || text[len - 1] == '0')
        return FALSE;
    if (SvNVX(sv) > 0.0)
        return !(text[0] == '0' && text[1] != '.');
    return FALSE;
}

PERL_STATIC_INLINE void
sereal_leaf(pTHX_ walk *w, SV *sv, U8 flags, U16 key)
{
    const U32 f = SvFLAGS(sv);
    if ((f & (SVf_POK | SVf_IOK | SVf_NOK)) == SVf_POK)
        push_string(aTHX_ w, f & SVf_UTF8 ? ICECORE_TEXT : ICECORE_BYTES, flags, key, SvPVX_const(sv), SvCUR(sv));
    else if ((f & (SVf_POK | SVf_IOK)) == SVf_IOK)
        push_int(aTHX_ w, sv, flags, key);
    else if (f & SVf_POK) {
        if ((f & SVf_IOK) && SvIsBOOL(sv) && w->set->protocol >= 5)
            push(aTHX_ w, ICECORE_BOOL, flags | ICECORE_BIT_5, key, 0, SvTRUE_nomg_NN(sv));
        else if (f & SVf_IOK ? is_integer_text(aTHX_ sv) : FALSE)
            push_int(aTHX_ w, sv, flags, key);
        else if (!(f & SVf_IOK) && is_float_text(aTHX_ sv))
            push_float(aTHX_ w, SvNVX(sv), flags, key);
        else
            push_pv(aTHX_ w, sv, flags, key);
    } else if (f & SVf_NOK)
        push_float(aTHX_ w, SvNVX(sv), flags, key);
    else if (f & SVp_POK)
        push_pv(aTHX_ w, sv, flags, key);
    else if (f & SVp_IOK)
        push_int(aTHX_ w, sv, flags, key);
    else if (f & SVp_NOK)
        push_float(aTHX_ w, SvNVX(sv), flags, key);
    else {
        if (UNLIKELY(sv == &PL_sv_undef))
            flags |= ICECORE_BIT_4;
        push(aTHX_ w, ICECORE_NULL, flags, key, 0, 0);
    }
}

/* For formats that know strings from numbers: what is a string is one, also when
 * it was used as a number. */
static void
plain_leaf(pTHX_ walk *w, SV *sv, U8 flags, U16 key)
{
    if (SvPOK(sv) && SvIsBOOL(sv))
        push(aTHX_ w, ICECORE_BOOL, flags, key, 0, SvTRUE_nomg_NN(sv));
    else
        storable_leaf(aTHX_ w, sv, flags, key, FALSE);
}

PERL_STATIC_INLINE void
leaf(pTHX_ walk *w, SV *sv, U8 flags, U16 key, bool item)
{
    if (w->storable)
        storable_leaf(aTHX_ w, sv, flags, key, item);
    else if (w->sereal)
        sereal_leaf(aTHX_ w, sv, flags, key);
    else
        plain_leaf(aTHX_ w, sv, flags, key);
}

/* Whether it is a signed integer, and nothing else, for all formats. */
PERL_STATIC_INLINE bool
is_integer(const SV *sv)
{
    return (SvFLAGS(sv) & (SVf_IOK | SVf_NOK | SVf_POK | SVf_ROK | SVf_IVisUV)) == SVf_IOK && SvTYPE(sv) < SVt_PVMG;
}

/* Whether nothing else refers to it, and it is no reference and has no magic. */
PERL_STATIC_INLINE bool
is_simple(SV *sv)
{
    return SvREFCNT(sv) == 1 && SvTYPE(sv) < SVt_PVMG && !SvROK(sv);
}

static bool
is_immortal(pTHX_ SV *sv)
{
    return sv == &PL_sv_undef || sv == &PL_sv_yes || sv == &PL_sv_no || sv == &PL_sv_placeholder;
}

/* Whether such a value is one of its own each time, and not the same variable
 * again. Up to protocol 2 Sereal has no word for perl's own undef. */
static bool
is_always_own(pTHX_ walk *w, SV *sv)
{
    if (sv == &PL_sv_yes || sv == &PL_sv_no)
        return !w->storable;
    return !w->sereal || w->set->protocol >= 3;
}

static void
push_immortal(pTHX_ walk *w, SV *sv, U16 key, bool item)
{
    if (sv == &PL_sv_yes || sv == &PL_sv_no)
        push(aTHX_ w, ICECORE_BOOL, ICECORE_BIT_4, key, 0, sv == &PL_sv_yes);
    else
        push(aTHX_ w, ICECORE_NULL, item && w->storable ? ICECORE_BIT_4 | ICECORE_BIT_5 : ICECORE_BIT_4, key, 0, 0);
}

/* Whether a reference to it is a reference to a variable. */
PERL_STATIC_INLINE bool
is_scalar(SV *sv)
{
    return SvTYPE(sv) < SVt_PVAV && SvTYPE(sv) != SVt_REGEXP && !isGV_with_GP(sv);
}

/* Whether a weak reference points to it, so that it may come again. */
static bool
has_backrefs(pTHX_ SV *sv)
{
    if (SvTYPE(sv) == SVt_PVHV)
        return HvHasAUX((HV *)sv) && HvAUX((HV *)sv)->xhv_backreferences;
    return SvTYPE(sv) >= SVt_PVMG && SvMAGICAL(sv) && mg_find(sv, PERL_MAGIC_backref);
}

/* ---- hash entries ------------------------------------------------------ */

/* In which order: Storable goes as perl's own iterator would, Sereal along the
 * buckets, unless the hash has magic, as that of a restricted one. */
static U32
start_hash(pTHX_ walk *w, HV *hv)
{
    if (!w->storable && !SvMAGICAL((SV *)hv))
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
next_entry(ice_frame *frame)
{
    HV *hv = (HV *)frame->sv;
    HE *he = frame->he;
    U32 max = (U32)HvMAX(hv);
    while (!he) {
        if (frame->at > (SSize_t)max)
            return NULL;
        he = HvARRAY(hv)[(frame->at ^ frame->rand) & max];
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

static void put(pTHX_ walk *w, SV *sv, U16 key, bool item, bool remember);

static void
too_deep(pTHX_ walk *w)
{
    if (w->storable)
        croak("Max. recursion depth with nested structures exceeded");
    croak("Hit maximum recursion depth (%" UVuf "), aborting serialization", w->set->max_depth);
}

static ice_frame *
push_frame(pTHX_ walk *w, U8 kind, U32 node, U32 wraps, SV *sv)
{
    ice_frame *frame;
    if (UNLIKELY(w->set->max_depth && w->ctx->depth + wraps >= w->set->max_depth))
        too_deep(aTHX_ w);
    frame = ice_push_frame(aTHX_ w->ctx);
    frame->kind = kind;
    frame->pinned = FALSE;
    frame->spare = FALSE;
    frame->wraps = wraps;
    frame->node = node;
    frame->sv = sv;
    frame->at = 0;
    frame->count = 0;
    frame->he = NULL;
    frame->other = NULL;
    frame->rand = 0;
    return frame;
}

/* Where the walk is, when nothing or only wrappers were pushed for a value: as
 * `$.staff[3]`. A mortal. */
static SV *
path_here(pTHX_ walk *w, U16 key, U32 wraps)
{
    SV *path = sv_2mortal(newSVpvs("$"));
    U32 i;
    for (i = 0; i < w->ctx->depth; i++) {
        const ice_frame *frame = &w->ctx->frames[i];
        U32 first = i + 1 < w->ctx->depth ? w->ctx->frames[i + 1].node - w->ctx->frames[i + 1].wraps
                                          : (U32)w->t->node_count - wraps;
        U16 id = first < w->t->node_count ? w->t->nodes[first].key : key;
        if (frame->kind == ARRAY)
            sv_catpvf(path, "[%" IVdf "]", (IV)frame->at - 1);
        else if (id == ICECORE_KEY_NODE && first > 0 && w->t->nodes[first - 1].key == ICECORE_IS_KEY) {
            const icecore_node *node = &w->t->nodes[first - 1];
            if (node->aux != ICECORE_LONG)
                sv_catpvf(path, ".%" SVf, SVfARG(sv_2mortal(newSVpvn_utf8(
                    (char *)w->t->arena + (node->payload & ICECORE_OFFSET), node->aux, node->kind == ICECORE_TEXT))));
        } else if (id && id < w->ctx->keys.room && w->ctx->keys.by_id[id])
            sv_catpvf(path, ".%" SVf, SVfARG(w->ctx->keys.by_id[id]));
    }
    return path;
}

/* Code, globs, handles and so on. */
static void
put_unknown(pTHX_ walk *w, SV *rv, SV *sv, U8 flags, U16 key, U32 wraps)
{
    const char *type = sv_reftype(sv, FALSE);
    if (w->storable) {
        char text[80];
        if (!w->set->forgive)
            croak("Can't store %s items", type);
        warn("Can't store item %s(0x%" UVxf ")", type, PTR2UV(sv));
        my_snprintf(text, sizeof text, "You lost %s(0x%" UVxf ")", type, PTR2UV(sv));
        push(aTHX_ w, ICECORE_REF, flags, key, 1, 0);
        push_string(aTHX_ w, ICECORE_BYTES, 0, 0, text, strlen(text));
        end_node(w, (U32)w->t->node_count - 2, 1, wraps);
        return;
    }
    if (w->set->undef_unknown || w->set->stringify_unknown) {
        bool undef = w->set->undef_unknown;
        if (w->set->warn_unknown
            && (undef || w->set->warn_unknown != 2 || !SvOBJECT(sv) || !Gv_AMG(SvSTASH(sv))))
            warn("Found type %u %s(0x%p), but it is not representable by the Sereal encoding format; will encode as %s",
                 (unsigned)SvTYPE(sv), type, (void *)sv, undef ? "an undefined value" : "a stringified form");
        /* The class, if one was written, is taken back. */
        if (wraps) {
            w->t->node_count -= wraps;
            key = w->t->nodes[w->t->node_count].key;
        }
        if (undef)
            push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
        else {
            STRLEN len;
            const char *text;
            pin(aTHX_ w);
            text = SvPV(rv ? rv : sv, len);
            push_string(aTHX_ w, SvUTF8(rv ? rv : sv) ? ICECORE_TEXT : ICECORE_BYTES, 0, key, text, len);
        }
        return;
    }
    if (w->sereal)
        croak("Found type %u %s(0x%p), but it is not representable by the Sereal encoding format", (unsigned)SvTYPE(sv),
              type, (void *)sv);
    croak("Icecore: %s can't be encoded, at %" SVf, type, SVfARG(path_here(aTHX_ w, key, wraps)));
}

static void
put_code(pTHX_ walk *w, SV *rv, SV *cv, U8 flags, U16 key, U32 wraps)
{
    SV *text;
    STRLEN len;
    const char *pv;
    if (!w->storable || !w->set->deparse) {
        put_unknown(aTHX_ w, rv, cv, flags, key, wraps);
        return;
    }
    pin(aTHX_ w);
    {
        SV *code = newRV_inc(cv);
        AV *result;
        ice_keep(aTHX_ w->ctx, code);
        result = ice_call_list(aTHX_ (SV *)get_cv("Icecore::_deparse", GV_ADD), &code, 1);
        ice_keep(aTHX_ w->ctx, (SV *)result);
        text = AvFILLp(result) >= 0 ? AvARRAY(result)[0] : &PL_sv_undef;
    }
    pv = SvPV(text, len);
    if (len == 0 || pv[len - 1] == ';')
        croak("The result of B::Deparse::coderef2text was empty - maybe you're trying to serialize an XS function?\n");
    push(aTHX_ w, ICECORE_CODE, flags, key, 1, 0);
    push_string(aTHX_ w, SvUTF8(text) ? ICECORE_TEXT : ICECORE_BYTES, 0, 0, pv, len);
    end_node(w, (U32)w->t->node_count - 2, 1, wraps);
}

/* The letters that stand behind a pattern. */
static STRLEN
regexp_flags(pTHX_ REGEXP *re, char *to)
{
    STRLEN count = 0;
    const char *letters = INT_PAT_MODS;
    U32 bits = (RX_EXTFLAGS(re) & RXf_PMf_COMPILETIME) >> RXf_PMf_STD_PMMOD_SHIFT;
    switch (get_regex_charset(RX_EXTFLAGS(re))) {
    case REGEX_LOCALE_CHARSET:
        to[count++] = 'l';
        break;
    case REGEX_UNICODE_CHARSET:
        to[count++] = 'u';
        break;
    case REGEX_ASCII_MORE_RESTRICTED_CHARSET:
        to[count++] = 'a';
        /* FALLTHROUGH */
    case REGEX_ASCII_RESTRICTED_CHARSET:
        to[count++] = 'a';
        break;
    default:
        break;
    }
    for (; *letters; letters++, bits >>= 1)
        if (bits & 1)
            to[count++] = *letters;
    return count;
}

static void
put_regexp(pTHX_ walk *w, SV *sv, U8 flags, U16 key, U32 wraps)
{
    REGEXP *re = SvTYPE(sv) == SVt_REGEXP ? (REGEXP *)sv : SvRX(sv);
    char letters[64];
    STRLEN count = regexp_flags(aTHX_ re, letters);
    U32 at = push(aTHX_ w, ICECORE_REGEXP, flags, key, 2, 0);
    push_string(aTHX_ w, RX_UTF8(re) ? ICECORE_TEXT : ICECORE_BYTES, 0, 0, RX_PRECOMP(re), RX_PRELEN(re));
    push_string(aTHX_ w, ICECORE_BYTES, 0, 0, letters, count);
    end_node(w, at, 2, wraps);
}

/* Says that Storable's hook of this class is to be called, and calls it. NULL:
 * the object is stored as if there were none. */
static AV *
call_storable_freeze(pTHX_ walk *w, SV *sv, U32 class_index)
{
    ice_class *class = &w->ctx->classes[class_index];
    SV *arguments[2];
    AV *list;
    bool storing = !w->set->cloning;

    ice_keep(aTHX_ w->ctx, arguments[0] = newRV_inc(sv));
    ice_keep(aTHX_ w->ctx, arguments[1] = newSViv(w->set->cloning));
    pin(aTHX_ w);
    list = ice_call_list(aTHX_ (SV *)class->hook, arguments, 2);
    ice_keep(aTHX_ w->ctx, (SV *)list);
    class = &w->ctx->classes[class_index];
    if (AvFILLp(list) < 0) {
        if (class->hook_used)
            croak("Too late to ignore hooks for %s class \"%s\"", storing ? "storing" : "cloning",
                  HvNAME_get(class->stash));
        class->hook_ignored = TRUE;
        return NULL;
    }
    if (AvFILLp(list) > 0 && ice_method(aTHX_ class->stash, "STORABLE_attach"))
        croak("Freeze cannot return references if %s class is using STORABLE_attach", HvNAME_get(class->stash));
    class->hook_used = TRUE;
    return list;
}

static void
put_hook(pTHX_ walk *w, SV *sv, AV *list, U32 class_id, U8 flags, U16 key, U32 wraps)
{
    U32 at = push(aTHX_ w, ICECORE_OPAQUE, flags | ICECORE_FORM_HOOK << 4, key, 0, (U64)class_id << 32);
    ice_frame *frame;
    STRLEN len;
    const char *text = SvPV(AvARRAY(list)[0], len);
    push_string(aTHX_ w, ICECORE_BYTES, 0, 0, text, len);
    frame = push_frame(aTHX_ w, HOOK, at, wraps, (SV *)list);
    frame->pinned = TRUE; /* the list is kept */
    frame->at = 1;
    frame->count = 1;
    frame->other = sv;
}

/* What FREEZE of its class returns for an object. */
static void
put_frozen(pTHX_ walk *w, SV *sv, const ice_class *class, U8 flags, U16 key, U32 wraps)
{
    const U32 id = class->id;
    SV *arguments[2];
    AV *list;
    U32 at;
    ice_keep(aTHX_ w->ctx, arguments[0] = newRV_inc(sv));
    ice_keep(aTHX_ w->ctx, arguments[1] = newSVpvs("Sereal"));
    pin(aTHX_ w);
    list = ice_call_list(aTHX_ (SV *)class->hook, arguments, 2);
    ice_keep(aTHX_ w->ctx, (SV *)list);
    w->last_stash = NULL;
    push(aTHX_ w, ICECORE_OPAQUE, flags | ICECORE_FORM_FREEZE << 4, key, 1, (U64)id << 32);
    at = push(aTHX_ w, ICECORE_ARRAY, REFERENCE, 0, 0, 0);
    push_frame(aTHX_ w, ARRAY, at, wraps + 1, (SV *)list)->count = AvFILLp(list) + 1;
}

static MAGIC *
tie_of(pTHX_ SV *sv)
{
    return SvRMAGICAL(sv) ? mg_find(sv, PERL_MAGIC_tied) : NULL;
}

static void
refuse_object(pTHX)
{
    croak("Attempted to serialize blessed reference. Serializing objects using Sereal::Encoder was explicitly disabled "
          "using the 'croak_on_bless' option.");
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
        refuse_object(aTHX);
    if (SvOBJECT(sv) && !(type == SVt_REGEXP && SvSTASH(sv) == gv_stashpvs("Regexp", GV_ADD))) {
        ice_class *class = class_of(aTHX_ w, SvSTASH(sv));
        U32 index = (U32)(class - w->ctx->classes), id = class->id;
        if (class->hook && !class->hook_ignored) {
            if (w->storable) {
                AV *list = call_storable_freeze(aTHX_ w, sv, index);
                w->last_stash = NULL;
                if (list) {
                    put_hook(aTHX_ w, sv, list, id, flags, key, wraps);
                    return;
                }
            } else {
                put_frozen(aTHX_ w, sv, class, flags, key, wraps);
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
            U32 at = push(aTHX_ w, ICECORE_TIED, flags | form << 4, key, 1, 0);
            SV *object = tie->mg_obj;
            ice_frame *frame;
            if (!object)
                ice_keep(aTHX_ w->ctx, object = newSV(0));
            frame = push_frame(aTHX_ w, LISTED, at, wraps, NULL);
            frame->other = object;
            return;
        }
        if (type == SVt_PVAV) {
            U32 at = push(aTHX_ w, ICECORE_ARRAY, flags, key, 0, 0);
            ice_frame *frame;
            if (SvRMAGICAL(sv) && tie) {
                pin(aTHX_ w);
                frame = push_frame(aTHX_ w, ARRAY, at, wraps, sv);
                frame->count = av_len((AV *)sv) + 1;
                w->ctx->frames[w->ctx->depth - 1].other = sv; /* fetched through magic */
                return;
            }
            push_frame(aTHX_ w, ARRAY, at, wraps, sv)->count = AvFILLp((AV *)sv) + 1;
            return;
        }
        {
            HV *hv = (HV *)sv;
            U32 at;
            ice_frame *frame;
            if (w->storable) {
                if (SvREADONLY(sv))
                    flags |= ICECORE_BIT_4;
                else if (HvHASKFLAGS(hv))
                    flags |= ICECORE_BIT_7;
            }
            at = push(aTHX_ w, ICECORE_MAP, flags, key, 0, 0);
            if (tie) {
                pin(aTHX_ w);
                frame = push_frame(aTHX_ w, TIED_HASH, at, wraps, sv);
                (void)hv_iterinit(hv);
                return;
            }
            frame = push_frame(aTHX_ w, HASH, at, wraps, sv);
            if (HvTOTALKEYS(hv) == 0 || !HvARRAY(hv)) {
                frame->at = (SSize_t)HvMAX(hv) + 1;
                return;
            }
            frame->rand = start_hash(aTHX_ w, hv);
        }
        return;
#if ICE_HAS_CLASS
    case SVt_PVOBJ: {
        AV *list = newAV();
        U32 at;
        ice_keep(aTHX_ w->ctx, (SV *)list);
        ice_fields(aTHX_ sv, list);
        at = push(aTHX_ w, ICECORE_MAP, flags, key, 0, 0);
        push_frame(aTHX_ w, LISTED, at, wraps, (SV *)list)->pinned = TRUE;
        return;
    }
#endif
    case SVt_PVCV:
        put_code(aTHX_ w, rv, sv, flags, key, wraps);
        return;
    case SVt_REGEXP:
        put_regexp(aTHX_ w, sv, SvOBJECT(sv) ? flags : flags | ICECORE_BIT_4, key, wraps);
        return;
    default:
        put_unknown(aTHX_ w, rv, sv, flags, key, wraps);
    }
}

/* A scalar with magic, as Storable sees it. Says whether it was put. */
static bool
put_magical(pTHX_ walk *w, SV *sv, U8 flags, U16 key, U32 wraps)
{
    MAGIC *mg;
    const U32 all = SVs_GMG | SVs_SMG | SVs_RMG;
    if ((SvFLAGS(sv) & all) == all && (mg = mg_find(sv, PERL_MAGIC_tiedelem))) {
        U32 at = push(aTHX_ w, ICECORE_TIED, flags | ICECORE_FORM_TIED_ELEMENT << 4, key, 0, 0);
        ice_frame *frame = push_frame(aTHX_ w, LISTED, at, wraps, NULL);
        frame->other = mg->mg_obj;
        if (mg->mg_ptr)
            frame->he = (HE *)mg->mg_ptr; /* the SV of the key */
        else {
            frame->rand = 1;
            frame->at = mg->mg_len;
        }
        return TRUE;
    }
    if ((SvFLAGS(sv) & all) == all && (mg = mg_find(sv, PERL_MAGIC_tiedscalar))) {
        U32 at = push(aTHX_ w, ICECORE_TIED, flags | ICECORE_FORM_TIED_SCALAR << 4, key, 0, 0);
        SV *object = mg->mg_obj;
        if (!object)
            ice_keep(aTHX_ w->ctx, object = newSV(0));
        push_frame(aTHX_ w, LISTED, at, wraps, NULL)->other = object;
        return TRUE;
    }
    if (SvPOK(sv) && SvMAGICAL(sv) && (mg = mg_find(sv, PERL_MAGIC_vstring))) {
        U32 at = push(aTHX_ w, ICECORE_VSTRING, flags, key, 2, 0);
        push_string(aTHX_ w, ICECORE_BYTES, 0, 0, mg->mg_ptr, mg->mg_len);
        push_pv(aTHX_ w, sv, 0, 0);
        end_node(w, at, 2, wraps);
        return TRUE;
    }
    return FALSE;
}

/* ---- records ----------------------------------------------------------- */

/* Whether what comes next is the body of an object: it is not reached through a
 * reference of its own. And whether something else refers to the object. */
typedef struct {
    bool is_body;
    bool hint;
} record_body;

static SV *
field(pTHX_ HV *record, const char *name)
{
    SV **found = hv_fetch(record, name, (I32)strlen(name), 0);
    if (!found || !SvOK(*found) || SvMAGICAL(*found))
        return NULL;
    return *found;
}

/* What a hook record says that its object is made of. */
static SV *
record_type(pTHX_ walk *w, HV *record)
{
    SV *body = field(aTHX_ record, "body"), *made;
    if (body && SvROK(body))
        return SvRV(body);
    if (body && strEQ(SvPV_nolen(body), "HASH"))
        made = (SV *)newHV();
    else if (body && strEQ(SvPV_nolen(body), "ARRAY"))
        made = (SV *)newAV();
    else if (body || !hv_exists(record, "body", 4))
        made = newSV(0);
    else
        return *hv_fetchs(record, "body", 0); /* a tied scalar */
    ice_keep(aTHX_ w->ctx, made);
    return made;
}

/* An object of a class that was not allowed, as it was read. Returns what is to
 * be put into it; NULL, if it is complete or has a frame. */
static SV *
put_record(pTHX_ walk *w, SV *rv, U16 *key, U32 *wraps, record_body *inside, bool remember)
{
    HV *record = (HV *)SvRV(rv);
    SV *class = field(aTHX_ record, "class"), *kind = field(aTHX_ record, "kind");
    SV **value = hv_fetchs(record, "value", 0);
    const char *name, *how;
    STRLEN len;
    U8 flags = inside->is_body ? 0 : REFERENCE;
    U32 id;

    inside->is_body = inside->hint = FALSE;
    if (w->set->croak_on_bless)
        refuse_object(aTHX);
    if (!class || !kind || !value)
        croak("Icecore: a record without a class, a kind or a value");
    if (SvWEAKREF(rv))
        flags |= ICECORE_IS_WEAK;
    if (field(aTHX_ record, "overloaded"))
        flags |= ICECORE_IS_OVERLOAD;
    how = SvPV_nolen(kind);
    if (SvREFCNT((SV *)record) > 1 || remember || has_backrefs(aTHX_ (SV *)record)) {
        ice_slot *slot = ice_map_find(&w->ctx->seen, record);
        if (slot) {
            push_again(aTHX_ w, ICECORE_LINK, flags, *key, slot->value, *wraps);
            return NULL;
        }
        ice_map_add(&w->ctx->seen, record, (U32)w->t->node_count);
        inside->hint = w->sereal;
    }
    if (w->set->no_bless)
        return *value;
    name = SvPV(class, len);
    id = icecore_class(w->ctx->engine, SvUTF8(class) ? ICECORE_TEXT : ICECORE_BYTES, (const U8 *)name, len);
    if (!id)
        croak("Icecore: too many classes");
    if (strEQ(how, "hook")) {
        AV *list = newAV();
        SV *references = field(aTHX_ record, "references");
        ice_keep(aTHX_ w->ctx, (SV *)list);
        av_push(list, newSVsv_nomg(*value));
        if (references && SvROK(references) && SvTYPE(SvRV(references)) == SVt_PVAV && !SvMAGICAL(SvRV(references))) {
            AV *from = (AV *)SvRV(references);
            SSize_t i;
            for (i = 0; i <= AvFILLp(from); i++)
                av_push(list, AvARRAY(from)[i] ? SvREFCNT_inc_simple_NN(AvARRAY(from)[i]) : newSV(0));
        }
        put_hook(aTHX_ w, record_type(aTHX_ w, record), list, id, flags, *key, *wraps);
        return NULL;
    }
    if (strEQ(how, "freeze"))
        push(aTHX_ w, ICECORE_OPAQUE, flags | ICECORE_FORM_FREEZE << 4, *key, 1, (U64)id << 32);
    else if (strEQ(how, "variable"))
        push(aTHX_ w, ICECORE_OBJECT, ICECORE_FORM_VARIABLE << 4, *key, 1, (U64)id << 32);
    else {
        push(aTHX_ w, ICECORE_OBJECT, flags, *key, 1, (U64)id << 32);
        inside->is_body = TRUE;
    }
    ++*wraps;
    *key = 0;
    return *value;
}

/* The value of a variable: an item, the value of an entry, what a reference to a
 * scalar refers to. With `remember` what it refers to may come again, whatever
 * its count says. */
static void
put(pTHX_ walk *w, SV *sv, U16 key, bool item, bool remember)
{
    U32 wraps = 0;
    U32 object = ICECORE_NONE;
    bool inner = FALSE;
    record_body body = { FALSE, FALSE };
    for (;;) {
        U8 flags = 0;
        SV *referent;

        if (SvMAGICAL(sv) && !w->storable && SvGMAGICAL(sv))
            get_magic(aTHX_ w, sv);
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
        if (SvOBJECT(sv) && object == ICECORE_NONE && SvTYPE(sv) != SVt_REGEXP && !w->set->no_bless) {
            /* The variable itself is blessed, and was not reached through a
             * reference. */
            ice_class *class = class_of(aTHX_ w, SvSTASH(sv));
            push(aTHX_ w, ICECORE_OBJECT, flags | ICECORE_FORM_VARIABLE << 4, key, 1, (U64)class->id << 32);
            wraps++;
            key = 0;
            flags = 0;
        }
        object = ICECORE_NONE;
        if (!SvROK(sv)) {
            if (SvTYPE(sv) >= SVt_PVMG) {
                if (SvTYPE(sv) == SVt_REGEXP) {
                    put_regexp(aTHX_ w, sv, flags | ICECORE_BIT_4, key, wraps);
                    return;
                }
                if (isGV_with_GP(sv) || SvTYPE(sv) > SVt_PVLV) {
                    put_unknown(aTHX_ w, NULL, sv, flags, key, wraps);
                    return;
                }
                if (w->storable && SvMAGICAL(sv) && put_magical(aTHX_ w, sv, flags, key, wraps))
                    return;
            }
            leaf(aTHX_ w, sv, flags, key, item && !inner);
            end_wraps(w, wraps);
            return;
        }
        if (w->storable && SvMAGICAL(sv) && put_magical(aTHX_ w, sv, flags, key, wraps))
            return;
        referent = SvRV(sv);
        if (UNLIKELY(SvOBJECT(referent)) && SvTYPE(referent) == SVt_PVHV
            && class_of(aTHX_ w, SvSTASH(referent))->is_record) {
            sv = put_record(aTHX_ w, sv, &key, &wraps, &body, remember);
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
        if (SvOBJECT(referent) && w->storable && class_of(aTHX_ w, SvSTASH(referent))->has_amagic)
            flags |= ICECORE_IS_OVERLOAD;
        if (!is_scalar(referent)) {
            put_referent(aTHX_ w, sv, referent, flags, key, wraps, remember);
            return;
        }
        if (SvOBJECT(referent)) {
            ice_slot *slot = ice_map_find(&w->ctx->seen, referent);
            ice_class *class = class_of(aTHX_ w, SvSTASH(referent));
            if (slot && slot->object != ICECORE_NONE) {
                push_again(aTHX_ w, ICECORE_LINK, flags, key, slot->object, wraps);
                return;
            }
            if (w->set->croak_on_bless)
                refuse_object(aTHX);
            if (!slot && class->hook && !class->hook_ignored) {
                U32 index = (U32)(class - w->ctx->classes), id = class->id;
                U32 here = (U32)w->t->node_count;
                AV *list;
                ice_map_add(&w->ctx->seen, referent, here)->object = here;
                if (w->storable) {
                    list = call_storable_freeze(aTHX_ w, referent, index);
                    w->last_stash = NULL;
                    if (list) {
                        put_hook(aTHX_ w, referent, list, id, flags, key, wraps);
                        return;
                    }
                } else {
                    put_frozen(aTHX_ w, referent, class, flags, key, wraps);
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
        if (UNLIKELY(w->set->max_depth && w->ctx->depth + wraps >= w->set->max_depth))
            too_deep(aTHX_ w);
        key = 0;
        inner = TRUE;
        sv = referent;
    }
}

/* ---- the loop ---------------------------------------------------------- */

/* A hash of which every value is simple, without a frame of its own. Says no,
 * and leaves nothing behind, if it is anything else. */
static bool
put_flat_hash(pTHX_ walk *w, SV *rv, U16 key)
{
    HV *hv = (HV *)SvRV(rv);
    const size_t nodes = w->t->node_count, arena = w->t->arena_len;
    const U32 count = (U32)HvTOTALKEYS(hv), max = (U32)HvMAX(hv);
    U32 at, i, rand, left = count;

    if (count == 0 || count > 32 || HvPLACEHOLDERS_get(hv) || HvHASKFLAGS(hv) || SvREADONLY((SV *)hv))
        return FALSE;
    rand = start_hash(aTHX_ w, hv);
    if (HvHasAUX(hv) && HvAUX(hv)->xhv_backreferences)
        return FALSE;
    if (UNLIKELY(w->t->node_capacity - nodes < count + 1))
        more_nodes(aTHX_ w);
    at = push(aTHX_ w, ICECORE_MAP, REFERENCE, key, count, 0);
    for (i = 0; left && i <= max; i++) {
        HE *he;
        for (he = HvARRAY(hv)[(i ^ rand) & max]; he; he = HeNEXT(he)) {
            SV *value = HeVAL(he);
            U16 id;
            /* An integer, and nothing else: there is room for its node. */
            if (SvREFCNT(value) == 1 && is_integer(value)
                && (id = ice_key_id(aTHX_ w->ctx, he, w->storable))) {
                icecore_node *node = &w->t->nodes[w->t->node_count++];
                node->kind = ICECORE_INT;
                node->flags = 0;
                node->key = id;
                node->aux = 0;
                node->payload = (U64)(I64)SvIVX(value);
                left--;
                continue;
            }
            if (!is_simple(value) || !(id = ice_key_id(aTHX_ w->ctx, he, w->storable))) {
                w->t->node_count = nodes;
                w->t->arena_len = arena;
                return FALSE;
            }
            leaf(aTHX_ w, value, 0, id, FALSE);
            left--;
        }
    }
    w->t->nodes[at].payload = w->t->node_count;
    return TRUE;
}

/* Whether a reference leads to a hash that nothing else refers to and that has
 * no class and no magic. */
PERL_STATIC_INLINE bool
is_plain_hash_ref(SV *sv)
{
    SV *hv;
    if (SvREFCNT(sv) != 1 || SvTYPE(sv) != SVt_IV || !SvROK(sv) || SvWEAKREF(sv))
        return FALSE;
    hv = SvRV(sv);
    return SvTYPE(hv) == SVt_PVHV && SvREFCNT(hv) == 1 && !SvOBJECT(hv) && !SvMAGICAL(hv);
}

/* Integers that nothing else refers to, from `at` on, as long as there are such.
 * Returns where it stopped. */
static SSize_t
put_integers(pTHX_ walk *w, AV *av, SSize_t at, SSize_t end)
{
    SV **items = AvARRAY(av);
    icecore_node *node, *last;
    if (w->t->node_capacity - w->t->node_count < (size_t)(end - at)
        && icecore_grow_nodes(w->ctx->engine, w->t, (size_t)(end - at)) != ICECORE_OK)
        croak("Icecore: too many values, or not enough memory");
    node = last = w->t->nodes + w->t->node_count;
    for (; at < end; at++) {
        const SV *sv = items[at];
        if (!sv || SvREFCNT(sv) != 1 || !is_integer(sv))
            break;
        memset(node, 0, 8);
        node->kind = ICECORE_INT;
        node->payload = (U64)(I64)SvIVX(sv);
        node++;
    }
    w->t->node_count += node - last;
    return at;
}

static void
walk_array(pTHX_ walk *w)
{
    const U32 depth = w->ctx->depth;
    ice_frame *frame = &w->ctx->frames[depth - 1];
    AV *av = (AV *)frame->sv;

    while (frame->at < frame->count) {
        SSize_t at = frame->at++;
        SV *sv;
        if (UNLIKELY(frame->other != NULL)) {
            SV **found;
            pin(aTHX_ w);
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
            if (is_integer(sv) && !frame->other && frame->count <= AvFILLp(av) + 1) {
                SSize_t next = put_integers(aTHX_ w, av, at, frame->count);
                if (next != at) {
                    frame->at = next;
                    continue;
                }
            }
            leaf(aTHX_ w, sv, 0, 0, TRUE);
            continue;
        }
        if (is_plain_hash_ref(sv) && put_flat_hash(aTHX_ w, sv, 0))
            continue;
        put(aTHX_ w, sv, 0, TRUE, FALSE);
        if (w->ctx->depth != depth)
            return;
        frame = &w->ctx->frames[depth - 1];
    }
    end_node(w, frame->node, (U32)frame->count, frame->wraps);
    w->ctx->depth--;
}

static void
walk_hash(pTHX_ walk *w)
{
    const U32 depth = w->ctx->depth;
    ice_frame *frame = &w->ctx->frames[depth - 1];
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
        put(aTHX_ w, value, key, FALSE, FALSE);
        if (w->ctx->depth != depth)
            return;
        frame = &w->ctx->frames[depth - 1];
        if (frame->kind != HASH)
            return;
    }
    end_node(w, frame->node, (U32)frame->count, frame->wraps);
    w->ctx->depth--;
}

/* What is left of a hash that was pinned; or the parts of a tied variable. */
static void
walk_listed(pTHX_ walk *w)
{
    const U32 depth = w->ctx->depth;
    ice_frame *frame = &w->ctx->frames[depth - 1];

    if (!frame->sv) {
        /* A tied variable: its object, then the key or index of an element. */
        SV *part = frame->other;
        if (part) {
            frame->other = NULL;
            frame->count++;
            put(aTHX_ w, part, 0, FALSE, FALSE);
            return;
        }
        if (frame->he) {
            part = (SV *)frame->he;
            frame->he = NULL;
            frame->count++;
            put(aTHX_ w, part, 0, FALSE, FALSE);
            return;
        }
        if (frame->rand) {
            frame->rand = 0;
            frame->count++;
            push(aTHX_ w, ICECORE_INT, 0, 0, 0, (U64)(I64)frame->at);
        }
        end_node(w, frame->node, (U32)frame->count, frame->wraps);
        w->ctx->depth--;
        return;
    }
    while (frame->at <= AvFILLp((AV *)frame->sv)) {
        SV **list = AvARRAY((AV *)frame->sv);
        SV *key_text = list[frame->at], *value = list[frame->at + 1];
        U16 key;
        frame->at += 2;
        frame->count++;
        if (value == &PL_sv_placeholder) {
            key = push_key_sv(aTHX_ w, key_text, frame->spare ? ICECORE_BIT_5 : 0);
            push(aTHX_ w, frame->spare ? ICECORE_HOLE : ICECORE_NULL, frame->spare ? 0 : ICECORE_BIT_4, key, 0, 0);
            continue;
        }
        key = push_key_sv(aTHX_ w, key_text, frame->spare && SvREADONLY(value) ? ICECORE_BIT_4 : 0);
        /* The list holds it too. */
        if (SvREFCNT(value) == 2 && SvTYPE(value) < SVt_PVMG && !SvROK(value)) {
            leaf(aTHX_ w, value, 0, key, FALSE);
            continue;
        }
        put(aTHX_ w, value, key, FALSE, FALSE);
        if (w->ctx->depth != depth)
            return;
        frame = &w->ctx->frames[depth - 1];
    }
    end_node(w, frame->node, (U32)frame->count, frame->wraps);
    w->ctx->depth--;
}

static void
walk_tied_hash(pTHX_ walk *w)
{
    const U32 depth = w->ctx->depth;
    ice_frame *frame = &w->ctx->frames[depth - 1];
    HV *hv = (HV *)frame->sv;
    HE *he;

    pin(aTHX_ w);
    while ((he = hv_iternext(hv))) {
        SV *value = hv_iterval(hv, he);
        U16 key;
        frame = &w->ctx->frames[depth - 1];
        frame->count++;
        ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(value));
        key = push_key_he(aTHX_ w, he, 0);
        put(aTHX_ w, value, key, FALSE, FALSE);
        if (w->ctx->depth != depth)
            return;
    }
    frame = &w->ctx->frames[depth - 1];
    end_node(w, frame->node, (U32)frame->count, frame->wraps);
    w->ctx->depth--;
}

static const char *
class_name(pTHX_ SV *sv)
{
    return SvOBJECT(sv) ? HvNAME_get(SvSTASH(sv)) : "Icecore::Record";
}

/* A hook record: what the hook returned beside its string, and then links. */
static void
walk_hook(pTHX_ walk *w)
{
    ice_frame *frame = &w->ctx->frames[w->ctx->depth - 1];
    AV *list = (AV *)frame->sv;
    SV *sv = frame->other;
    SSize_t i;

    while (frame->at <= AvFILLp(list)) {
        SV *rv = AvARRAY(list)[frame->at];
        if (!SvROK(rv))
            croak("Item #%d returned by STORABLE_freeze for %s is not a reference", (int)frame->at, class_name(aTHX_ sv));
        frame->at++;
        if (ice_map_find(&w->ctx->seen, SvRV(rv)))
            continue;
        frame->count++;
        put(aTHX_ w, rv, 0, FALSE, TRUE);
        return;
    }
    for (i = 1; i <= AvFILLp(list); i++) {
        SV *referent = SvRV(AvARRAY(list)[i]);
        ice_slot *slot = ice_map_find(&w->ctx->seen, referent);
        frame->count++;
        if (!slot)
            croak("Could not serialize item #%d from hook in %s", (int)i, class_name(aTHX_ sv));
        if (!is_scalar(referent))
            push(aTHX_ w, ICECORE_LINK, REFERENCE, 0, 0, slot->value);
        else if (slot->object != ICECORE_NONE)
            push(aTHX_ w, ICECORE_LINK, REFERENCE, 0, 0, slot->object);
        else {
            push(aTHX_ w, ICECORE_REF, REFERENCE, 0, 1, 0);
            push(aTHX_ w, ICECORE_ALIAS, 0, 0, 0, slot->value);
            end_wraps(w, 1);
        }
        if (!is_scalar(referent) || slot->object != ICECORE_NONE)
            w->t->nodes[is_scalar(referent) ? slot->object : slot->value].flags |= ICECORE_IS_TARGET;
        else
            w->t->nodes[slot->value].flags |= ICECORE_IS_TARGET;
    }
    frame->count++;
    {
        const U32 node = frame->node, wraps = frame->wraps, count = (U32)frame->count;
        const svtype type = SvTYPE(sv);
        MAGIC *tie = tie_of(aTHX_ sv);
        if (!tie && is_scalar(sv) && SvMAGICAL(sv))
            tie = mg_find(sv, PERL_MAGIC_tiedscalar);
        w->ctx->depth--;
        if (tie) {
            U8 form = type == SVt_PVHV ? ICECORE_FORM_TIED_HASH
                      : type == SVt_PVAV ? ICECORE_FORM_TIED_ARRAY
                                         : ICECORE_FORM_TIED_SCALAR;
            /* Ends together with the record, whose count is set here. */
            ice_frame *last = push_frame(aTHX_ w, HEADER, node, wraps, NULL);
            last->count = count;
            {
                U32 at = push(aTHX_ w, ICECORE_TIED, form << 4, 0, 1, 0);
                push_frame(aTHX_ w, LISTED, at, 0, NULL)->other = tie->mg_obj;
            }
            return;
        }
        if (type == SVt_PVHV || type == SVt_PVAV) {
            U32 at = push(aTHX_ w, type == SVt_PVHV ? ICECORE_MAP : ICECORE_ARRAY, 0, 0, 0, 0);
            end_node(w, at, 0, 0);
        } else
            push(aTHX_ w, ICECORE_NULL, 0, 0, 0, 0);
        end_node(w, node, count, wraps);
    }
}

static void
run(pTHX_ walk *w)
{
    while (w->ctx->depth) {
        ice_frame *frame = &w->ctx->frames[w->ctx->depth - 1];
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
        case TIED_HASH:
            walk_tied_hash(aTHX_ w);
            break;
        case HOOK:
            walk_hook(aTHX_ w);
            break;
        default:
            end_node(w, frame->node, (U32)frame->count, frame->wraps);
            w->ctx->depth--;
        }
    }
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
    w->owned = FALSE;
    if (icecore_begin(ctx->engine, tape) != ICECORE_OK)
        croak("Icecore: not enough memory");
    ice_keys_check(aTHX_ ctx, tape->key_generation);
}

static void
finish(pTHX_ walk *w)
{
    if (w->t->arena_capacity - w->t->arena_len < SLACK)
        more_arena(aTHX_ w, SLACK);
    Zero(w->t->arena + w->t->arena_len, SLACK, U8);
    w->t->arena_len += SLACK;
}

void
ice_walk(pTHX_ ice_context *ctx, icecore_tape *tape, SV *sv, const ice_write_settings *settings)
{
    walk w;
    begin(aTHX_ & w, ctx, tape, settings);
    /* Storable stores what the reference refers to: the variable that holds the
     * reference is not a part of it. */
    if (w.storable && SvREFCNT(sv) > 1)
        sv = sv_2mortal(newRV_inc(SvRV(sv)));
    if (is_plain_hash_ref(sv) && put_flat_hash(aTHX_ & w, sv, 0)) {
        finish(aTHX_ & w);
        return;
    }
    put(aTHX_ & w, sv, 0, FALSE, FALSE);
    run(aTHX_ & w);
    finish(aTHX_ & w);
}

void
ice_walk_header(pTHX_ ice_context *ctx, icecore_tape *tape, SV *header, SV *body, const ice_write_settings *settings)
{
    walk w;
    begin(aTHX_ & w, ctx, tape, settings);
    put(aTHX_ & w, header, 0, FALSE, FALSE);
    run(aTHX_ & w);
    tape->header = 0;
    tape->root = (U32)tape->node_count;
    /* The header has offsets of its own: nothing in the body refers to it. */
    if (ctx->seen.used)
        ice_map_clear(&ctx->seen);
    put(aTHX_ & w, body, 0, FALSE, FALSE);
    run(aTHX_ & w);
    finish(aTHX_ & w);
}
