/* Tight recursion for what most data is made of: arrays and hashes that nothing
 * else refers to, of strings and numbers. It gives up at the first thing that is
 * anything else, and walk.c walks all of it.
 *
 * A template: each format includes it once, so that what differs is known to the
 * compiler. Before, it defines
 *
 *   FACTS        its facts
 *   LEAF         the function for its scalars
 *   PUT_BOOLEAN  (w, sv, key): puts what a reference leads to if it is a boolean,
 *                and says so; if it has such */
#include "core/leaf.h"

#define HAS(fact) ((FACTS & (fact)) != 0)

/* Where the next node and the next string go. In variables of their own: perl is
 * compiled without strict aliasing, and each store to a node would make the
 * compiler read them from the tape again. */
#define LOAD (node = w->t->nodes + w->t->node_count, text = w->t->arena + w->t->arena_len)
#define SAVE (w->t->node_count = (size_t)(node - w->t->nodes), w->t->arena_len = (size_t)(text - w->t->arena))
#define FITS(len) ((size_t)(w->t->arena + w->t->arena_capacity - text) >= (len) + SLACK)

PERL_STATIC_INLINE icecore_node *
put_node(icecore_node *node, U8 kind, U16 key, U32 aux, U64 payload)
{
#if BYTEORDER == 0x12345678
    /* One store instead of four. */
    const U64 front = (U64)aux << 32 | (U64)key << 16 | kind;
    memcpy(node, &front, 8);
#else
    node->kind = kind;
    node->flags = 0;
    node->key = key;
    node->aux = aux;
#endif
    node->payload = payload;
    return node + 1;
}

/* So many nodes stay in the processor's first cache. */
#define PART 512

/* Hands over what was put so far, to be written: large data then takes no memory
 * for its nodes. What is handed over can't be put in another way any more. */
static bool
hand_over(pTHX_ walk *w)
{
    iw_finish(aTHX_ w);
    if (icecore_write_part(w->ctx->engine, w->stage, w->t) == ICECORE_OK) {
        w->parts++;
        return TRUE;
    }
    if (w->parts)
        return FALSE;
    w->stage = NULL;
    return TRUE;
}

/* Makes room for so many nodes. */
PERL_STATIC_INLINE bool
reserve(pTHX_ walk *w, size_t count)
{
    if (UNLIKELY(w->t->node_count >= PART) && w->stage && !hand_over(aTHX_ w))
        return FALSE;
    if (UNLIKELY(w->t->node_capacity - w->t->node_count < count)
        && icecore_grow_nodes(w->ctx->engine, w->t, w->t->node_count + count) != ICECORE_OK)
        croak("Icecore: too many values, or not enough memory");
    return TRUE;
}

/* The container at `at` is complete. */
PERL_STATIC_INLINE void
end_plain(walk *w, U32 at, U32 parts)
{
    if (LIKELY(w->parts == parts))
        w->t->nodes[at].payload = w->t->node_count;
}

/* Whether it is a string and nothing else; or an integer. JSON looks at what is private
 * too: it prefers a float to an integer. */
#define IS_STRING(f) (((f) & (SVf_POK | SVf_IOK | SVf_NOK | SVf_ROK)) == SVf_POK)
#define NO_INTEGER (SVf_POK | SVf_NOK | SVf_ROK | SVf_IVisUV | (HAS(IW_TREE) ? SVp_POK | SVp_NOK : 0))
#define IS_INTEGER(f) (((f) & (SVf_IOK | NO_INTEGER)) == SVf_IOK)
#define IS_BARE(f) (((f) & SVTYPEMASK) < SVt_PVMG)

/* A hash of more keys is not sorted here. */
#define SORTED 64

static bool plain_ref(pTHX_ walk *w, SV *rv, U16 key, int levels);
PERL_STATIC_INLINE bool plain_referent(pTHX_ walk *w, SV *sv, U8 flags, U16 key, int levels);

/* A scalar, with its node at `node` and its bytes at `text`; there is room for the
 * node. Says no, if it is none of these. Changes both. */
#define PUT_SCALAR(sv, f, id, is_item)                                                                                 \
    if (LIKELY(IS_STRING(f))) {                                                                                        \
        const STRLEN len = SvCUR(sv);                                                                                  \
        if (UNLIKELY(!FITS(len) || len >= ICECORE_LONG)) {                                                             \
            SAVE;                                                                                                      \
            LEAF(aTHX_ w, sv, 0, id, is_item);                                                                         \
            if (!reserve(aTHX_ w, left))                                                                               \
                return FALSE;                                                                                          \
            LOAD;                                                                                                      \
        } else {                                                                                                       \
            const U64 offset = (U64)(text - w->t->arena);                                                              \
            if (len <= 16 && SvLEN(sv) >= 16)                                                                          \
                memcpy(text, SvPVX_const(sv), 16);                                                                     \
            else                                                                                                       \
                ice_copy((char *)text, SvPVX_const(sv), len);                                                          \
            text += len;                                                                                               \
            node = put_node(node, (f) & SVf_UTF8 ? ICECORE_TEXT : ICECORE_BYTES, id, (U32)len, offset | ICECORE_IN_ARENA); \
        }                                                                                                              \
    } else if (IS_INTEGER(f))                                                                                              \
        node = put_node(node, ICECORE_INT, id, 0, (U64)(I64)SvIVX(sv));                                                \
    else {                                                                                                             \
        SAVE;                                                                                                          \
        if ((f) & SVf_ROK) {                                                                                           \
            if (!plain_ref(aTHX_ w, sv, id, levels))                                                                   \
                return FALSE;                                                                                          \
        } else                                                                                                         \
            LEAF(aTHX_ w, sv, 0, id, is_item);                                                                         \
        if (!reserve(aTHX_ w, left))                                                                                   \
            return FALSE;                                                                                              \
        LOAD;                                                                                                          \
    }

static bool
plain_hash(pTHX_ walk *w, HV *hv, U8 flags, U16 key, int levels)
{
    const size_t count = HvTOTALKEYS(hv);
    const U32 max = (U32)HvMAX(hv), parts = w->parts;
    const U32 at = push(aTHX_ w, ICECORE_MAP, flags, key, (U32)count, 0);
    U32 i = 0, order = 0;
    size_t left = count;
    icecore_node *node;
    U8 *text;
    HE **buckets, *he = NULL, *sorted[SORTED];

    if (HAS(IW_KEY_FLAGS) && (HvHASKFLAGS(hv) || SvREADONLY((SV *)hv)))
        return FALSE;
    if (HAS(IW_IN_ORDER))
        order = iw_start_hash(aTHX_ w, hv) & max;
    if (UNLIKELY(w->set->sort_code != NULL))
        return FALSE;
    if (HvPLACEHOLDERS_get(hv) || count > ICECORE_MOST_IDS || (HvHasAUX(hv) && HvAUX(hv)->xhv_backreferences))
        return FALSE;
    if (!reserve(aTHX_ w, left))
        return FALSE;
    LOAD;
    buckets = HvARRAY(hv);
    if (UNLIKELY(w->set->sorted) && count > 1) {
        size_t found = 0;
        if (count > SORTED)
            return FALSE;
        for (i = 0; found < count; i++)
            for (he = buckets[i]; he; he = HeNEXT(he))
                sorted[found++] = he;
        iw_sort(aTHX_ sorted, count);
        i = 0;
    }
    for (; left; he = HeNEXT(he)) {
        SV *sv;
        U32 f;
        U16 id;
        if (UNLIKELY(w->set->sorted) && count > 1)
            he = sorted[i++];
        else
            while (!he)
                he = buckets[i++ ^ order];
        sv = HeVAL(he);
        f = SvFLAGS(sv);
        if (UNLIKELY((SvREFCNT(sv) != 1 && !HAS(IW_TREE)) || !IS_BARE(f)))
            return FALSE;
        id = ice_key_id(aTHX_ w->ctx, he, HAS(IW_KEY_FLAGS));
        if (UNLIKELY(!id))
            return FALSE;
        left--;
        PUT_SCALAR(sv, f, id, FALSE)
    }
    SAVE;
    end_plain(w, at, parts);
    return TRUE;
}

static bool
plain_array(pTHX_ walk *w, AV *av, U8 flags, U16 key, int levels)
{
    const size_t count = (size_t)(AvFILLp(av) + 1);
    const U32 parts = w->parts, at = push(aTHX_ w, ICECORE_ARRAY, flags, key, (U32)count, 0);
    SV **items = AvARRAY(av), **end = items + count;
    icecore_node *node;
    U8 *text;

    if (count > U32_MAX)
        return FALSE;
    while (items < end) {
        size_t left = (size_t)(end - items) < PART ? (size_t)(end - items) : PART;
        if (!reserve(aTHX_ w, left))
            return FALSE;
        LOAD;
        while (left) {
            SV *sv = *items++;
            U32 f;
            left--;
            if (UNLIKELY(!sv)) {
                node = put_node(node, ICECORE_HOLE, 0, 0, 0);
                continue;
            }
            f = SvFLAGS(sv);
            if (UNLIKELY((SvREFCNT(sv) != 1 && !HAS(IW_TREE)) || !IS_BARE(f)))
                return FALSE;
            PUT_SCALAR(sv, f, 0, TRUE)
        }
        SAVE;
    }
    end_plain(w, at, parts);
    return TRUE;
}

/* What a reference leads to; `flags` are for its node. */
PERL_STATIC_INLINE bool
plain_referent(pTHX_ walk *w, SV *sv, U8 flags, U16 key, int levels)
{
    if (SvOBJECT(sv) || SvMAGICAL(sv) || levels == 0)
        return FALSE;
    switch (SvTYPE(sv)) {
    case SVt_PVHV:
        return plain_hash(aTHX_ w, (HV *)sv, flags, key, levels - 1);
    case SVt_PVAV:
        return plain_array(aTHX_ w, (AV *)sv, flags, key, levels - 1);
    default:
        return FALSE;
    }
}

static bool
plain_ref(pTHX_ walk *w, SV *rv, U16 key, int levels)
{
    SV *sv = SvRV(rv);
#ifdef PUT_BOOLEAN
    if (PUT_BOOLEAN(aTHX_ w, sv, key))
        return TRUE;
#endif
    if (HAS(IW_TREE))
        return plain_referent(aTHX_ w, sv, REFERENCE, key, levels);
    return SvREFCNT(sv) == 1 && !SvWEAKREF(rv) && plain_referent(aTHX_ w, sv, REFERENCE, key, levels);
}

/* Puts what a reference leads to, of at most so many levels. Says no, and leaves
 * nothing behind, if there is anything else in it than arrays, hashes, strings
 * and numbers. The root may have other references to it. */
static bool
put_plain(pTHX_ walk *w, SV *rv, U16 key, int levels, bool is_root)
{
    const size_t nodes = w->t->node_count, arena = w->t->arena_len;
    const U32 parts = w->parts;
    SV *sv = SvRV(rv);
    U8 flags = REFERENCE;
    if (SvMAGICAL(rv) || (!HAS(IW_TREE) && (SvWEAKREF(rv) || (SvREFCNT(sv) > 1 && !is_root))))
        return FALSE;
    /* Sereal has another form for what may be referred to again. */
    if (HAS(IW_HINTS) && SvREFCNT(sv) > 1)
        flags |= ICECORE_BIT_7;
    if (plain_referent(aTHX_ w, sv, flags, key, levels))
        return TRUE;
    w->stage = NULL;
    if (w->parts != parts) {
        iw_begin(aTHX_ w);
        return FALSE;
    }
    w->t->node_count = nodes;
    w->t->arena_len = arena;
    return FALSE;
}
