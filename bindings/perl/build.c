/* The engine's tape to perl values.
 *
 * One loop over the nodes with a stack of its own. Everything that is built
 * hangs on the root from the start, so that nothing leaks when a hook dies.
 *
 * Hooks may run any code, which may change or free what is being built. From the
 * first hook on, containers that are open are kept alive and are filled through
 * perl's own interface. */
#include "build.h"

/* ---- strings ----------------------------------------------------------- */

const char *
ib_bytes_of(pTHX_ build *b, const icecore_node *node, STRLEN *len)
{
    const icecore_view *v = b->v;
    U64 offset = node->payload & ICECORE_OFFSET;
    U64 size = node->aux;
    bool in_arena = (node->payload & ICECORE_IN_ARENA) != 0;
    if (UNLIKELY(node->aux == ICECORE_LONG)) {
        if (node->payload >= v->long_count)
            croak("Icecore: a string without a place");
        offset = v->long_strings[node->payload].offset;
        size = v->long_strings[node->payload].len;
        in_arena = v->long_strings[node->payload].in_arena;
    }
    if (UNLIKELY(offset > (in_arena ? v->arena_len : v->input_len)
                 || size > (in_arena ? v->arena_len : v->input_len) - offset))
        croak("Icecore: a string without a place");
    *len = (STRLEN)size;
    return (const char *)(in_arena ? v->arena : v->input) + offset;
}

static void
bad_utf8(pTHX_ build *b, const icecore_node *node)
{
    char path[512];
    icecore_path(b->ctx->engine, b->v->input, b->v->input_len, (U32)(node - b->v->nodes), path, sizeof path);
    croak("Icecore: text that is not UTF-8 at %s", path);
}

PERL_STATIC_INLINE SV *
ib_new_string(pTHX_ build *b, const icecore_node *node)
{
    STRLEN len;
    const char *text = ib_bytes_of(aTHX_ b, node, &len);
    SV *sv = newSVpvn(text, len);
    if (node->kind == ICECORE_TEXT
        || ((node->kind == ICECORE_SYMBOL || node->kind == ICECORE_MODULE || node->kind == ICECORE_ENUM_CASE)
            && !ice_is_ascii((const U8 *)text, len) && ice_is_utf8((const U8 *)text, len))) {
        if (UNLIKELY(!ice_is_utf8((const U8 *)text, len))) {
            SvREFCNT_dec(sv);
            bad_utf8(aTHX_ b, node);
        }
        SvUTF8_on(sv);
    }
    return sv;
}

/* An integer beyond 64 bits, as its decimal digits. */
static SV *
new_big_int(pTHX_ build *b, const icecore_node *node)
{
    STRLEN len, count = 1, i;
    const U8 *magnitude = (const U8 *)ib_bytes_of(aTHX_ b, node, &len);
    U32 *parts; /* nine digits each, the lowest first */
    SV *sv = newSVpv(node->flags & ICECORE_BIT_4 ? "-" : "", 0);
    Newxz(parts, len / 3 + 2, U32);
    SAVEFREEPV(parts);
    while (len--) {
        U64 carry = magnitude[len];
        for (i = 0; i < count; i++) {
            carry += (U64)parts[i] << 8;
            parts[i] = (U32)(carry % 1000000000);
            carry /= 1000000000;
        }
        if (carry)
            parts[count++] = (U32)carry;
    }
    sv_catpvf(sv, "%" UVuf, (UV)parts[count - 1]);
    for (i = count - 1; i--;)
        sv_catpvf(sv, "%09" UVuf, (UV)parts[i]);
    return sv;
}

/* An IEEE 754 binary128, as perl's float. */
static NV
float128(const U8 *bytes)
{
    NV value = 0;
    int i, exponent = (bytes[15] & 0x7F) << 8 | bytes[14];
    for (i = 0; i < 14; i++)
        value = (value + bytes[i]) / 256;
    if (exponent == 0x7FFF)
        value = value == 0 ? NV_INF : NV_NAN;
    else if (exponent == 0)
        value = Perl_ldexp(value, -16382);
    else
        value = Perl_ldexp(value + 1, exponent - 16383);
    return bytes[15] & 0x80 ? -value : value;
}

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
static void
own_input(pTHX_ build *b)
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
    own_input(aTHX_ b);
    for (i = b->ctx->depth; i--;) {
        ice_build_frame *frame = &b->ctx->frames[i].build;
        if (frame->pinned)
            break;
        frame->pinned = TRUE;
        if (frame->sv)
            ice_keep(aTHX_ b->ctx, SvREFCNT_inc_simple_NN(frame->sv));
    }
}

#if PERL_VERSION_GE(5, 30, 0) && !PERL_VERSION_GE(5, 41, 0) && !defined(PURIFY) && !defined(PERL_POISON) \
    && !defined(DEBUGGING) && !defined(DEBUG_LEAKING_SCALARS)
#  define DIRECT_ENTRIES 1
/* Where perl keeps hash entries that are free. */
#  define ENTRY_ROOT PL_body_roots[SVt_NULL]
#else
#  define DIRECT_ENTRIES 0
#endif

/* Whether a hash that was filled directly is what perl makes of it: tried once,
 * when the module is loaded. */
static bool direct_entries = FALSE;

/* Puts a value in the place of one that is there. The old one is kept until the
 * call is over: its destructor might look at what is being built. */
static void
store_in(pTHX_ ice_context *ctx, SV **place, SV *value)
{
    SV *old;
    if (!place) {
        SvREFCNT_dec(value);
        return;
    }
    old = *place;
    *place = value;
    if (SvTYPE(old) == SVt_NULL && SvREFCNT(old) == 1)
        SvREFCNT_dec(old);
    else
        ice_keep(aTHX_ ctx, old);
}

static void
store_by_sv(pTHX_ ice_context *ctx, HV *hv, SV *key, SV *value)
{
    HE *he;
    sv_2mortal(value); /* a hook may have locked the hash */
    he = hv_fetch_ent(hv, key, TRUE, 0);
    if (he)
        store_in(aTHX_ ctx, &HeVAL(he), SvREFCNT_inc_simple_NN(value));
}

/* Puts a value under a shared key. A key that is there already gets the new
 * value, as the last one wins. */
PERL_STATIC_INLINE void
store_entry(pTHX_ ice_context *ctx, HV *hv, SV *key, SV *value)
{
    HEK *hek;
    if (UNLIKELY(!SvIsCOW_shared_hash(key))) {
        store_by_sv(aTHX_ ctx, hv, key, value);
        return;
    }
    hek = SvSHARED_HEK_FROM_PV(SvPVX_const(key));
#if DIRECT_ENTRIES
    if (LIKELY(direct_entries && HvARRAY(hv) && ENTRY_ROOT && !HvHASKFLAGS(hv)
               && (HEK_FLAGS(hek) & ~HVhek_UTF8) == 0 && HvTOTALKEYS(hv) <= HvMAX(hv))) {
        HE **bucket = &HvARRAY(hv)[HEK_HASH(hek) & (U32)HvMAX(hv)];
        HE *he;
        for (he = *bucket; he; he = HeNEXT(he))
            if (HeKEY_hek(he) == hek) {
                if (HeVAL(he) == &PL_sv_placeholder) {
                    store_by_sv(aTHX_ ctx, hv, key, value);
                    return;
                }
                store_in(aTHX_ ctx, &HeVAL(he), value);
                return;
            }
        he = (HE *)ENTRY_ROOT;
        ENTRY_ROOT = (void *)HeNEXT(he);
        HeKEY_hek(he) = share_hek_hek(hek);
        HeVAL(he) = value;
        HeNEXT(he) = *bucket;
        *bucket = he;
        HvTOTALKEYS(hv)++;
        if (HEK_FLAGS(hek))
            HvHASKFLAGS_on(hv);
        return;
    }
#endif
    store_in(aTHX_ ctx, (SV **)hv_common(hv, key, NULL, 0, 0, HV_FETCH_LVALUE | HV_FETCH_JUST_SV, NULL, HEK_HASH(hek)),
             value);
}

/* A hash with room for `count` entries. */
PERL_STATIC_INLINE HV *
new_hash(pTHX_ U32 count)
{
    HV *hv = newHV();
    if (count > 8)
        hv_ksplit(hv, count > 0x1000000 ? 0x1000000 : count);
#if DIRECT_ENTRIES
    if (count && !HvARRAY(hv)) {
        char *array;
        Newxz(array, PERL_HV_ARRAY_ALLOC_BYTES(HvMAX(hv) + 1), char);
        HvARRAY(hv) = (HE **)array;
    }
#endif
    return hv;
}

void
ice_build_boot(pTHX)
{
#if DIRECT_ENTRIES
    /* Fill a hash both ways, and compare what perl says of it. An entry that is
     * deleted must come to where free ones are looked for. */
    HV *hv = new_hash(aTHX_ 20);
    ice_context *ctx;
    HE *first;
    char name[8];
    int i;
    bool good;
    direct_entries = FALSE;
    (void)hv_stores(hv, "key0", newSViv(0));
    (void)hv_stores(hv, "gone", newSViv(0));
    first = hv_fetch_ent(hv, sv_2mortal(newSVpvs("gone")), 0, 0);
    (void)hv_deletes(hv, "gone", G_DISCARD);
    if (!first || ENTRY_ROOT != (void *)first) {
        SvREFCNT_dec((SV *)hv);
        return;
    }
    direct_entries = TRUE;
    ENTER;
    ctx = ice_checkout(aTHX);
    for (i = 1; i < 20; i++) {
        SV *key;
        my_snprintf(name, sizeof name, "key%d", i);
        key = newSVpvn_share(name, (I32)strlen(name), 0);
        store_entry(aTHX_ ctx, hv, key, newSViv(i));
        store_entry(aTHX_ ctx, hv, key, newSViv(i * 2));
        SvREFCNT_dec(key);
    }
    LEAVE;
    good = HvUSEDKEYS(hv) == 20;
    for (i = 1; i < 20 && good; i++) {
        SV **value;
        my_snprintf(name, sizeof name, "key%d", i);
        value = hv_fetch(hv, name, (I32)strlen(name), 0);
        good = value && SvIV(*value) == i * 2;
    }
    direct_entries = good;
    SvREFCNT_dec((SV *)hv);
#endif
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

/* The key of a value in a hash whose entries have key nodes. */
static void
ib_store_by_node(pTHX_ build *b, HV *hv, U32 key_node, SV *value)
{
    const icecore_node *node = &b->v->nodes[key_node];
    if (node->kind == ICECORE_BYTES || node->kind == ICECORE_TEXT) {
        STRLEN len;
        const char *text = ib_bytes_of(aTHX_ b, node, &len);
        if (len <= I32_MAX) {
            if (node->kind == ICECORE_TEXT && !ice_is_utf8((const U8 *)text, len)) {
                SvREFCNT_dec(value);
                bad_utf8(aTHX_ b, node);
            }
            store_in(aTHX_ b->ctx, hv_fetch(hv, text, node->kind == ICECORE_TEXT ? -(I32)len : (I32)len, TRUE), value);
            return;
        }
    }
    {
        SV *key;
        switch (node->kind) {
        case ICECORE_INT:
            key = newSViv((IV)node->payload);
            break;
        case ICECORE_UINT:
            key = newSVuv((UV)node->payload);
            break;
        case ICECORE_BOOL:
            key = newSVpvn("1", node->payload ? 1 : 0);
            break;
        case ICECORE_FLOAT: {
            double number;
            memcpy(&number, &node->payload, 8);
            key = newSVnv(number);
            break;
        }
        case ICECORE_NULL:
        case ICECORE_HOLE:
            key = newSVpvs("");
            break;
        default:
            if (node->kind < ICECORE_BYTES || node->kind > ICECORE_ENUM_CASE) {
                SvREFCNT_dec(value);
                croak("Icecore: a key that is no string");
            }
            key = ib_new_string(aTHX_ b, node);
        }
        store_by_sv(aTHX_ b->ctx, hv, key, value);
        SvREFCNT_dec(key);
    }
}

/* A key that is allowed in a restricted hash, but absent. */
static void
store_placeholder(pTHX_ HV *hv, const char *text, STRLEN len, bool is_utf8)
{
    if (len > I32_MAX || (is_utf8 && !ice_is_utf8((const U8 *)text, len)))
        croak("Icecore: a key that perl can't have");
    if (hv_common(hv, NULL, text, len, is_utf8 ? HVhek_UTF8 : 0, HV_FETCH_ISEXISTS, NULL, 0))
        return; /* it has a value already */
    hv_common(hv, NULL, text, len, HVhek_PLACEHOLD | (is_utf8 ? HVhek_UTF8 : 0), HV_FETCH_ISSTORE | HV_FETCH_JUST_SV,
              &PL_sv_placeholder, 0);
}

static void
lock_value(SV *value)
{
    SvREADONLY_on(value);
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
                store_placeholder(aTHX_ hv, text, len, key->kind == ICECORE_TEXT);
                return;
            }
            if (key->flags & ICECORE_BIT_4)
                lock_value(value);
            ib_store_by_node(aTHX_ b, hv, frame->key, value);
        } else {
            SV *key = ice_key_sv(aTHX_ ctx, b->v, node->key);
            const U8 flags = b->v->keys.names[node->key - 1].node.flags;
            if (UNLIKELY(flags & ICECORE_BIT_5)) {
                SvREFCNT_dec(value);
                store_placeholder(aTHX_ hv, SvPVX_const(key), SvCUR(key), cBOOL(SvUTF8(key)));
                return;
            }
            if (UNLIKELY(flags & ICECORE_BIT_4))
                lock_value(value);
            if (UNLIKELY(b->foreign))
                store_by_sv(aTHX_ ctx, hv, key, value);
            else
                store_entry(aTHX_ ctx, hv, key, value);
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

/* ---- classes ----------------------------------------------------------- */

const icecore_name *
ib_class_name(pTHX_ build *b, const icecore_node *node, const char **text)
{
    U32 id = (U32)(node->payload >> 32);
    const icecore_name *name;
    if (id == 0 || id > b->v->classes.count)
        croak("Icecore: an object without a class");
    name = &b->v->classes.names[id - 1];
    *text = (const char *)b->v->classes.bytes + (name->node.payload & ICECORE_OFFSET);
    return name;
}

HV *
ib_stash_of(pTHX_ build *b, const icecore_node *node)
{
    const char *text;
    const icecore_name *name = ib_class_name(aTHX_ b, node, &text);
    bool is_utf8 = name->node.kind == ICECORE_TEXT;
    if (is_utf8 && !ice_is_utf8((const U8 *)text, name->node.aux))
        croak("Icecore: malformed UTF-8 in the name of a class");
    return gv_stashpvn(text, name->node.aux, GV_ADD | (is_utf8 ? SVf_UTF8 : 0));
}

/* What may be done with each class that the document names: 0 when it was not
 * asked yet. Refuses before anything is built. */
static void
check_classes(pTHX_ build *b, U32 from)
{
    const icecore_view *v = b->v;
    ice_context *ctx = b->ctx;
    U32 at, end = (U32)v->node_count;

    if (v->classes.count == 0)
        return;
    if (ctx->verdict_room <= v->classes.count) {
        ctx->verdict_room = (U32)v->classes.count + 16;
        Renew(ctx->verdicts, ctx->verdict_room, U8);
    }
    Zero(ctx->verdicts, v->classes.count + 1, U8);
    if (!b->set->bless_ok)
        return; /* no class is built */
    if (ice_policy_reports(aTHX_ b->set->classes))
        own_input(aTHX_ b);
    for (at = from; at < end; at++) {
        const icecore_node *node = &v->nodes[at];
        const icecore_name *name;
        const char *text;
        U32 id;
        int verdict;
        if (node->kind != ICECORE_OBJECT && node->kind != ICECORE_OPAQUE)
            continue;
        if (node->kind == ICECORE_OPAQUE && node->flags >> 4 == ICECORE_FORM_FREEZE && !ib_is_thawed(aTHX_ b, node))
            continue;
        id = (U32)(node->payload >> 32);
        if (id == 0 || id > v->classes.count || ctx->verdicts[id])
            continue;
        name = ib_class_name(aTHX_ b, node, &text);
        verdict = b->set->cloning ? ICE_ALLOWED
                                  : ice_policy(aTHX_ b->set->classes, text, name->node.aux,
                                               name->node.kind == ICECORE_TEXT);
        if (verdict == ICE_REFUSED) {
            char path[512];
            icecore_path(ctx->engine, v->input, v->input_len, at, path, sizeof path);
            ice_policy_refuse(aTHX_ text, name->node.aux, path);
        }
        ctx->verdicts[id] = (U8)verdict;
    }
}

bool
ib_is_record(build *b, const icecore_node *node)
{
    U32 id = (U32)(node->payload >> 32);
    return b->ctx->verdicts && id && id <= b->v->classes.count && b->ctx->verdicts[id] == ICE_AS_RECORD;
}

/* Whether THAW is called for an object that FREEZE froze; its payload stays
 * otherwise. */
bool
ib_is_thawed(pTHX_ build *b, const icecore_node *node)
{
    const char *text;
    const icecore_name *name;
    if (b->set->no_thaw || !b->set->bless_ok)
        return FALSE;
    if (!b->set->thaw_allow)
        return TRUE;
    name = ib_class_name(aTHX_ b, node, &text);
    return cBOOL(hv_common(b->set->thaw_allow, NULL, text, name->node.aux,
                           name->node.kind == ICECORE_TEXT ? HVhek_UTF8 : 0, HV_FETCH_ISEXISTS, NULL, 0));
}

/* ---- building ---------------------------------------------------------- */

/* An integer, without a call where perl has the parts of one in its headers. */
PERL_STATIC_INLINE SV *
new_int(pTHX_ IV value)
{
#if PERL_VERSION_GE(5, 36, 0)
    SV *sv = newSV_type(SVt_IV);
    SvIV_set(sv, value);
    SvFLAGS(sv) |= SVf_IOK | SVp_IOK;
    return sv;
#else
    return newSViv(value);
#endif
}

/* A leaf; NULL for an element that does not exist. */
PERL_STATIC_INLINE SV *
new_leaf(pTHX_ build *b, const icecore_node *node)
{
    switch (node->kind) {
    case ICECORE_BYTES:
    case ICECORE_TEXT:
        return ib_new_string(aTHX_ b, node);
    case ICECORE_INT:
        return new_int(aTHX_ (IV)(I64)node->payload);
    case ICECORE_NULL:
        return newSV(0);
    case ICECORE_BOOL:
        return newSVsv(node->payload ? &PL_sv_yes : &PL_sv_no);
    case ICECORE_FLOAT: {
        double number;
        memcpy(&number, &node->payload, 8);
        return newSVnv(number);
    }
    case ICECORE_FLOAT32: {
        float number;
        U32 bits = (U32)node->payload;
        memcpy(&number, &bits, 4);
        return newSVnv(number);
    }
    case ICECORE_UINT:
        return newSVuv((UV)node->payload);
    case ICECORE_BIGINT:
        return new_big_int(aTHX_ b, node);
    case ICECORE_FLOAT128: {
        STRLEN len;
        const char *bytes = ib_bytes_of(aTHX_ b, node, &len);
        return newSVnv(len == 16 ? float128((const U8 *)bytes) : 0);
    }
    case ICECORE_HOLE:
        return NULL;
    default:
        return ib_new_string(aTHX_ b, node);
    }
}

/* A leaf where some are shared: undef, small integers. */
static SV *
new_shared_leaf(pTHX_ build *b, const icecore_node *node)
{
    const ice_read_settings *set = b->set;
    const ice_build_frame *frame = b->ctx->depth ? &b->ctx->frames[b->ctx->depth - 1].build : NULL;
    if (frame && (frame->kind == ARRAY || frame->kind == MAP)) {
        if (node->kind == ICECORE_NULL && set->undef_own)
            return &PL_sv_undef;
        if (node->kind == ICECORE_INT && (I64)node->payload >= -16 && (I64)node->payload < set->alias_under) {
            SV **known = av_fetch(set->aliases, (SSize_t)((I64)node->payload + 16), TRUE);
            if (!SvOK(*known)) {
                sv_setiv(*known, (IV)(I64)node->payload);
                SvREADONLY_on(*known);
            }
            return SvREFCNT_inc_simple_NN(*known);
        }
    }
    return new_leaf(aTHX_ b, node);
}

PERL_STATIC_INLINE bool
is_leaf(const icecore_node *node)
{
    return node->kind < ICECORE_LINK;
}

/* An array of which every item is a leaf that nothing names, or as many of its
 * items as are. */
static U32
fill_array(pTHX_ build *b, AV *av, U32 at, U32 end)
{
    SV **items = AvARRAY(av);
    SSize_t index = AvFILLp(av), max = AvMAX(av);
    const icecore_node *nodes = b->v->nodes;
    while (at < end && index < max) {
        const icecore_node *node = &nodes[at];
        SV *sv;
        if (!is_leaf(node) || node->flags & ICECORE_IS_TARGET)
            break;
        if (LIKELY(node->kind == ICECORE_INT))
            sv = new_int(aTHX_ (IV)(I64)node->payload);
        else {
            /* It may die. */
            AvFILLp(av) = index;
            sv = new_leaf(aTHX_ b, node);
        }
        items[++index] = sv;
        at++;
    }
    AvFILLp(av) = index;
    return at;
}

static U32
fill_hash(pTHX_ build *b, HV *hv, U32 at, U32 end)
{
    const icecore_node *nodes = b->v->nodes;
    ice_keys *keys = &b->ctx->keys;
    while (at < end) {
        const icecore_node *node = &nodes[at];
        SV *key;
        if (!is_leaf(node) || node->flags & ICECORE_IS_TARGET || node->key >= ICECORE_IS_KEY || node->kind == ICECORE_HOLE)
            break;
        key = LIKELY(node->key < keys->room) && LIKELY(keys->by_id[node->key] != NULL)
                  ? keys->by_id[node->key]
                  : ice_key_sv(aTHX_ b->ctx, b->v, node->key);
        if (UNLIKELY(b->v->keys.names[node->key - 1].node.flags & (ICECORE_BIT_4 | ICECORE_BIT_5)))
            break;
        store_entry(aTHX_ b->ctx, hv, key, new_leaf(aTHX_ b, node));
        at++;
    }
    return at;
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

/* Blesses what a reference refers to. */
void
ib_be_object(pTHX_ build *b, SV *rv, U32 object)
{
    const icecore_node *node = &b->v->nodes[object];
    if (b->set->bless_ok)
        sv_bless(rv, ib_stash_of(aTHX_ b, node));
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

/* Builds what is at b->at, attaches it, and goes on behind it, or into it. */
static void
value(pTHX_ build *b)
{
    const icecore_node *nodes = b->v->nodes;
    U32 at = b->at, object = ICECORE_NONE;
    const icecore_node *node = &nodes[at];
    SV *slot;     /* the variable that the value is in */
    SV *variable; /* the innermost variable so far */

    if (is_leaf(node)) {
        SV *sv = UNLIKELY(b->shares) ? new_shared_leaf(aTHX_ b, node) : new_leaf(aTHX_ b, node);
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
        /* The variable that a link or alias to this node means. */
        if (node->flags & ICECORE_IS_TARGET)
            ib_set_variable(aTHX_ b, at, variable);
        switch (node->kind) {
        case ICECORE_ATTRS:
            at++;
            continue;
        case ICECORE_OBJECT: {
            U8 form = node->flags >> 4;
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
            referent = newSV(0);
            ib_set_rv(aTHX_ variable, referent);
            if (object != ICECORE_NONE) {
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
                b->at = at + 1;
                return;
            }
            variable = referent;
            if (is_leaf(node)) {
                SV *leaf_sv = new_leaf(aTHX_ b, node);
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
                next = UNLIKELY(b->shares) ? at + 1 : fill_array(aTHX_ b, av, at + 1, end);
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
            HV *hv = new_hash(aTHX_ node->aux);
            ib_set_rv(aTHX_ variable, (SV *)hv);
            ib_container_refs(aTHX_ b, variable, (SV *)hv, at, object);
            next = node->flags & ICECORE_BIT_4 || UNLIKELY(b->shares) ? at + 1 : fill_hash(aTHX_ b, hv, at + 1, end);
            if (next < end || node->flags & ICECORE_BIT_4) {
                ib_push_frame(aTHX_ b, MAP, at, (SV *)hv);
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
        if (b->v->nodes[frame.node].flags & ICECORE_BIT_4)
            ib_restrict_hash(aTHX_ b, (HV *)frame.sv, frame.node);
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

/* Makes everything that a variable holds read-only, or all but references and
 * arrays. */
static void
make_readonly(pTHX_ ice_context *ctx, SV *root, bool all)
{
    AV *todo = (AV *)sv_2mortal((SV *)newAV());
    if (ctx->seen.used)
        ice_map_clear(&ctx->seen);
    av_push(todo, SvREFCNT_inc_simple_NN(root));
    while (AvFILLp(todo) >= 0) {
        SV *sv = sv_2mortal(av_pop(todo));
        if (SvREFCNT(sv) > 2) {
            if (ice_map_find(&ctx->seen, sv))
                continue;
            ice_map_add(&ctx->seen, sv, 0);
        }
        if (SvTYPE(sv) == SVt_PVAV || SvTYPE(sv) == SVt_PVHV) {
            /* What THAW gave is not ours. */
            if (SvMAGICAL(sv) || (SvOBJECT(sv) && ice_method(aTHX_ SvSTASH(sv), "THAW")))
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
            if (all || SvTYPE(sv) == SVt_PVHV)
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
    b.foreign = FALSE;
    b.shares = settings->undef_own || settings->alias_under;
    ice_keys_check(aTHX_ ctx, view->keys.generation);
    if (root >= view->node_count)
        return newSV(0);
    check_classes(aTHX_ & b, root);

    value(aTHX_ & b);
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
                U32 next = fill_array(aTHX_ & b, (AV *)frame->sv, b.at, frame->end);
                if (next != b.at) {
                    frame->at = AvFILLp((AV *)frame->sv) + 1;
                    b.at = next;
                    continue;
                }
            } else if (frame->kind == MAP && is_leaf(node)) {
                U32 next = fill_hash(aTHX_ & b, (HV *)frame->sv, b.at, frame->end);
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
