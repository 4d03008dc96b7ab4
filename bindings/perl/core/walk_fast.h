/* Tight recursion for the most common data: arrays and hashes of strings and numbers to
 * which nothing else refers. At the first value of another kind it gives up, and walk.c
 * walks everything.
 *
 * A template: each format includes it once, so that the compiler knows the differences.
 * Before the include, the format defines
 *
 *   FACTS        its facts
 *   LEAF         the function for its scalars
 *   PUT_BOOLEAN  optional: (w, sv, key) puts the target of a reference if it is a boolean,
 *                and returns whether it did */
#include "core/leaf.h"

#define HAS(fact) ((FACTS & (fact)) != 0)

/* Positions of the next node and the next string. They are local variables, because perl
 * is compiled without strict aliasing: each store to a node would make the compiler read
 * them from the tape again. */
#define LOAD (node = w->t->nodes + w->t->node_count, text = w->t->arena + w->t->arena_len)
#define SAVE (w->t->node_count = (size_t)(node - w->t->nodes), w->t->arena_len = (size_t)(text - w->t->arena))
#define FITS(len) ((size_t)(w->t->arena + w->t->arena_capacity - text) >= (len) + SLACK)

PERL_STATIC_INLINE icecore_node *
put_front(icecore_node *node, U8 kind, U8 flags, U16 key, U32 aux, U64 payload)
{
#if BYTEORDER == 0x12345678
    /* One store instead of four. */
    const U64 front = (U64)aux << 32 | (U64)key << 16 | (U64)flags << 8 | kind;
    memcpy(node, &front, 8);
#else
    node->kind = kind;
    node->flags = flags;
    node->key = key;
    node->aux = aux;
#endif
    node->payload = payload;
    return node + 1;
}

PERL_STATIC_INLINE icecore_node *
put_node(icecore_node *node, U8 kind, U16 key, U32 aux, U64 payload)
{
    return put_front(node, kind, 0, key, aux, payload);
}

/* This many nodes stay in the processor's first cache. */
#define PART 512

/* Hands over the nodes so far to be written, so that large data takes no memory for its
 * nodes. Nodes that were handed over can't be replaced later. */
static bool
hand_over(pTHX_ iw_walk *w)
{
    const ice_part_result done = ice_write_part(w->ctx->warm.engine, w->stage, w->t, &w->parts);
    if (done == ICE_PART_UNSUPPORTED)
        w->stage = NULL;
    return done != ICE_PART_RESTART;
}

/* Makes room for `count` nodes. */
PERL_STATIC_INLINE bool
reserve(pTHX_ iw_walk *w, size_t count)
{
    if (UNLIKELY(w->t->node_count >= PART) && w->stage && !hand_over(aTHX_ w))
        return FALSE;
    if (UNLIKELY(w->t->node_capacity - w->t->node_count < count))
        ice_reserve_nodes(w->ctx->warm.engine, w->t, count);
    return TRUE;
}

/* Ends the container at `at`. */
PERL_STATIC_INLINE void
end_fast(iw_walk *w, U32 at, U32 parts)
{
    if (LIKELY(w->parts == parts))
        w->t->nodes[at].payload = w->t->node_count;
}

/* Whether a scalar is only a string, or only an integer. JSON also checks the private
 * flags, because it prefers a float to an integer. */
#define IS_STRING(f) (((f) & (SVf_POK | SVf_IOK | SVf_NOK | SVf_ROK)) == SVf_POK)
#define NO_INTEGER (SVf_POK | SVf_NOK | SVf_ROK | SVf_IVisUV | (HAS(IW_TREE) ? SVp_POK | SVp_NOK : 0))
#define IS_INTEGER(f) (((f) & (SVf_IOK | NO_INTEGER)) == SVf_IOK)
#define IS_BARE(f) (((f) & SVTYPEMASK) < SVt_PVMG)

/* Hashes with more keys are not sorted here. */
#define SORTED 64

static bool fast_ref(pTHX_ iw_walk *w, SV *rv, U16 key, int levels);
PERL_STATIC_INLINE bool fast_referent(pTHX_ iw_walk *w, SV *sv, U8 flags, U16 key, int levels);

/* Puts a string for which there is room. */
#define PUT_STRING(sv, f, id, arena)                                                                                       \
    {                                                                                                                  \
        const STRLEN size = SvCUR(sv);                                                                                 \
        const U64 offset = (U64)(text - (arena)) | ICECORE_IN_ARENA;                                                   \
        if (size <= 16 && SvLEN(sv) >= 16)                                                                             \
            memcpy(text, SvPVX_const(sv), 16);                                                                         \
        else                                                                                                           \
            ice_copy((char *)text, SvPVX_const(sv), size);                                                             \
        text += size;                                                                                                  \
        node = put_node(node, (f) & SVf_UTF8 ? ICECORE_TEXT : ICECORE_BYTES, id, (U32)size, offset);                    \
    }

/* Puts a scalar: its node at `node`, its bytes at `text`; both move on. There is room
 * for the node. Other kinds of scalars go to LEAF or `put_ref`. */
#define PUT_SCALAR(sv, f, id, is_item, put_ref)                                                                        \
    if (LIKELY(IS_STRING(f))) {                                                                                        \
        const STRLEN len = SvCUR(sv);                                                                                  \
        if (UNLIKELY(!FITS(len) || len >= ICECORE_LONG)) {                                                             \
            SAVE;                                                                                                      \
            LEAF(aTHX_ w, sv, 0, id, is_item);                                                                         \
            if (!reserve(aTHX_ w, left))                                                                               \
                return FALSE;                                                                                          \
            LOAD;                                                                                                      \
        } else {                                                                                                       \
            PUT_STRING(sv, f, id, w->t->arena)                                                                         \
        }                                                                                                              \
    } else if (IS_INTEGER(f))                                                                                          \
        node = put_node(node, ICECORE_INT, id, 0, (U64)(I64)SvIVX(sv));                                                \
    else {                                                                                                             \
        SAVE;                                                                                                          \
        if ((f) & SVf_ROK) {                                                                                           \
            put_ref                                                                                                    \
        } else                                                                                                         \
            LEAF(aTHX_ w, sv, 0, id, is_item);                                                                         \
        if (!reserve(aTHX_ w, left))                                                                                   \
            return FALSE;                                                                                              \
        LOAD;                                                                                                          \
    }

static bool
fast_hash(pTHX_ iw_walk *w, HV *hv, U8 flags, U16 key, int levels)
{
    const size_t count = HvTOTALKEYS(hv);
    const U32 max = (U32)HvMAX(hv), parts = w->parts;
    const bool sorts = w->set->sorted && count > 1;
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
    if (UNLIKELY(sorts)) {
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
        if (UNLIKELY(sorts))
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
        PUT_SCALAR(sv, f, id, FALSE, if (!fast_ref(aTHX_ w, sv, id, levels)) return FALSE;)
    }
    SAVE;
    end_fast(w, at, parts);
    return TRUE;
}

/* ---- records -----------------------------------------------------------
 *
 * In a list the next hash mostly has the same keys as the previous one. If it has as
 * many, and each of them is in its bucket, there are no others: then neither ids nor
 * other buckets have to be looked up. */

#define MOST_KEYS 32
#define MOST_BUCKETS 64
/* After this many hashes that differ from the previous one, the prediction is given up. */
#define MISSES 8

typedef struct {
    const HEK *hek;
    U16 id;
    U8 bucket; /* BEHIND: in the bucket of the previous key, after it */
} known_key;

enum { BEHIND = 0xFF };

typedef struct {
    U32 count; /* 0: nothing is known */
    U32 max;
    U32 misses;
    known_key keys[MOST_KEYS + 1]; /* in the order of the buckets, then one without a key */
    U8 first[MOST_BUCKETS];        /* index of the first key of each bucket, or of a later one */
} shape;

#define MAGIC_FLAGS (SVs_OBJECT | SVs_GMG | SVs_SMG | SVs_RMG)
#define HASH_FLAGS                                                                                                     \
    (SVTYPEMASK | MAGIC_FLAGS | (HAS(IW_KEY_FLAGS) ? SVphv_HASKFLAGS | SVf_READONLY | SVf_PROTECT : 0))

/* Whether a hash can be put as a record of its shape, according to its flags. */
PERL_STATIC_INLINE bool
is_record(HV *hv)
{
    return (SvFLAGS((SV *)hv) & HASH_FLAGS) == SVt_PVHV && !SvMAGIC((SV *)hv);
}

/* Remembers the keys of a hash that was put. */
static void
learn(pTHX_ iw_walk *w, shape *known, HV *hv)
{
    const U32 max = (U32)HvMAX(hv);
    U32 count = 0, i;
    known->count = 0;
    if (++known->misses >= MISSES || w->set->sorted || HvTOTALKEYS(hv) > MOST_KEYS || HvTOTALKEYS(hv) == 0
        || max >= MOST_BUCKETS)
        return;
    for (i = 0; i <= max; i++) {
        HE *he = HvARRAY(hv)[i];
        known->first[i] = (U8)count;
        for (; he; he = HeNEXT(he)) {
            known->keys[count].hek = HeKEY_hek(he);
            known->keys[count].id = ice_key_id(aTHX_ w->ctx, he, HAS(IW_KEY_FLAGS));
            known->keys[count].bucket = he == HvARRAY(hv)[i] ? (U8)i : BEHIND;
            if (!known->keys[count++].id)
                return;
        }
    }
    known->keys[count].hek = NULL;
    known->max = max;
    known->count = count;
}

/* Pointers and limits of the tape, read once for many records. */
typedef struct {
    icecore_node *nodes;
    U8 *arena;
    const U8 *text_stop; /* a string of 16 bytes fits before this */
    SSize_t last;        /* the last node at which a record may begin */
} tape_room;

/* `left`: number of nodes that must stay free after a record. */
PERL_STATIC_INLINE tape_room
room_of(const iw_walk *w, size_t left)
{
    const icecore_tape *t = w->t;
    tape_room room = { t->nodes, t->arena, t->arena, (SSize_t)(t->node_capacity - left) - MOST_KEYS - 1 };
    if (t->arena_capacity > SLACK + 16)
        room.text_stop += t->arena_capacity - SLACK - 16;
    if (w->stage && room.last >= PART)
        room.last = PART - 1; /* time to hand over */
    return room;
}

/* Puts a hash of leaves with the known shape: its node at `*at` and its bytes at
 * `*behind`; both move on. If the hash has another shape, returns false and undoes
 * everything. */
PERL_STATIC_INLINE bool
put_record(pTHX_ iw_walk *w, const shape *known, HV *hv, icecore_node **at, U8 **behind, tape_room *room, size_t left)
{
    const U32 count = known->count, max = known->max;
    icecore_node *node = *at;
    U8 *text = *behind;
    const SSize_t first = node - room->nodes, bytes = text - room->arena;
    const known_key *key = known->keys;
    const HEK *hek = key->hek;
    U32 i = 0, order = 0, done = 0;
    HE *he = NULL, **buckets;

    if (!is_record(hv) || (!HAS(IW_TREE) && SvREFCNT((SV *)hv) != 1) || HvTOTALKEYS(hv) != count || HvMAX(hv) != max
        || UNLIKELY(first > room->last))
        return FALSE;
    if (HAS(IW_IN_ORDER))
        order = iw_start_hash(aTHX_ w, hv) & max;
    if (UNLIKELY(HvHasAUX(hv)) && HvAUX(hv)->xhv_backreferences)
        return FALSE;
    node = put_front(node, ICECORE_MAP, REFERENCE, 0, count, (U64)first + 1 + count);
    for (buckets = HvARRAY(hv); HAS(IW_IN_ORDER) ? done++ < count : hek != NULL; hek = key->hek) {
        SV *sv;
        U32 f;
        U16 id;
        if (!HAS(IW_IN_ORDER))
            he = UNLIKELY(key->bucket == BEHIND) ? HeNEXT(he) : buckets[key->bucket];
        else if (!(he = he ? HeNEXT(he) : NULL)) {
            while (!(he = buckets[i ^ order]))
                i++;
            key = known->keys + known->first[i++ ^ order];
            hek = key->hek;
        }
        if (UNLIKELY(!he || HeKEY_hek(he) != hek))
            goto another;
        id = key++->id;
        sv = HeVAL(he);
        f = SvFLAGS(sv);
        if (UNLIKELY((SvREFCNT(sv) != 1 && !HAS(IW_TREE)) || !IS_BARE(f)))
            goto another;
        if (IS_INTEGER(f))
            node = put_node(node, ICECORE_INT, id, 0, (U64)(I64)SvIVX(sv));
        else if (LIKELY(IS_STRING(f)) && LIKELY(SvCUR(sv) <= 16) && LIKELY(text < room->text_stop))
            PUT_STRING(sv, f, id, room->arena)
        else if (IS_STRING(f) && FITS(SvCUR(sv)) && SvCUR(sv) < ICECORE_LONG)
            PUT_STRING(sv, f, id, room->arena)
        else if (f & SVf_ROK)
            goto another;
        else {
            SAVE;
            LEAF(aTHX_ w, sv, 0, id, FALSE);
            LOAD;
            *room = room_of(w, left);
        }
    }
    *at = node;
    *behind = text;
    return TRUE;
another: /* a leaf may have moved the tape */
    *at = room->nodes + first;
    *behind = room->arena + bytes;
    return FALSE;
}

/* Puts a reference in an array, and the records after it: `items`, of which there are
 * `left`. Returns how many of these were put in addition; less than 0 if anything is
 * special. */
static SSize_t
fast_items(pTHX_ iw_walk *w, shape *known, SV *rv, SV **items, size_t left, int levels)
{
    if (known->count) {
        const size_t all = left;
        icecore_node *node;
        U8 *text;
        tape_room room = room_of(w, left);
        LOAD;
        while (rv && (SvFLAGS(rv) & (SVTYPEMASK | SVf_ROK | SVprv_WEAKREF)) == (SVt_IV | SVf_ROK)
               && (HAS(IW_TREE) || SvREFCNT(rv) == 1)
               && put_record(aTHX_ w, known, (HV *)SvRV(rv), &node, &text, &room, left)) {
            known->misses = 0;
            if (!left) {
                SAVE;
                return (SSize_t)all;
            }
            rv = *items++;
            left--;
        }
        SAVE;
        /* The last one that was tried is put next. */
        if (left < all)
            return (SSize_t)(all - left) - 1;
    }
    if (!fast_ref(aTHX_ w, rv, 0, levels))
        return -1;
    if (known->misses < MISSES && is_record((HV *)SvRV(rv)))
        learn(aTHX_ w, known, (HV *)SvRV(rv));
    return 0;
}

static bool
fast_array(pTHX_ iw_walk *w, AV *av, U8 flags, U16 key, int levels)
{
    const size_t count = (size_t)(AvFILLp(av) + 1);
    const U32 parts = w->parts, at = push(aTHX_ w, ICECORE_ARRAY, flags, key, (U32)count, 0);
    SV **items = AvARRAY(av), **end = items + count;
    icecore_node *node;
    U8 *text;
    shape known;

    known.count = 0;
    known.misses = levels ? 0 : MISSES;
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
            PUT_SCALAR(sv, f, 0, TRUE, {
                const SSize_t more = fast_items(aTHX_ w, &known, sv, items, left, levels);
                if (more < 0)
                    return FALSE;
                items += more;
                left -= (size_t)more;
            })
        }
        SAVE;
    }
    end_fast(w, at, parts);
    return TRUE;
}

/* Puts the target of a reference; `flags` are for its node. */
PERL_STATIC_INLINE bool
fast_referent(pTHX_ iw_walk *w, SV *sv, U8 flags, U16 key, int levels)
{
    if (SvOBJECT(sv) || SvMAGICAL(sv) || levels == 0)
        return FALSE;
    switch (SvTYPE(sv)) {
    case SVt_PVHV:
        return fast_hash(aTHX_ w, (HV *)sv, flags, key, levels - 1);
    case SVt_PVAV:
        return fast_array(aTHX_ w, (AV *)sv, flags, key, levels - 1);
    default:
        return FALSE;
    }
}

static bool
fast_ref(pTHX_ iw_walk *w, SV *rv, U16 key, int levels)
{
    SV *sv = SvRV(rv);
#ifdef PUT_BOOLEAN
    if (PUT_BOOLEAN(aTHX_ w, sv, key))
        return TRUE;
#endif
    if (HAS(IW_TREE))
        return fast_referent(aTHX_ w, sv, REFERENCE, key, levels);
    return SvREFCNT(sv) == 1 && !SvWEAKREF(rv) && fast_referent(aTHX_ w, sv, REFERENCE, key, levels);
}

/* Puts the target of a reference with at most `levels` levels. If it contains anything
 * but arrays, hashes, strings and numbers, returns false and undoes everything. The root
 * may have other references to it. */
static bool
put_fast(pTHX_ iw_walk *w, SV *rv, U16 key, int levels, bool is_root)
{
    const size_t nodes = w->t->node_count, arena = w->t->arena_len;
    const U32 parts = w->parts;
    SV *sv = SvRV(rv);
    U8 flags = REFERENCE;
    if (SvMAGICAL(rv) || (!HAS(IW_TREE) && (SvWEAKREF(rv) || (SvREFCNT(sv) > 1 && !is_root))))
        return FALSE;
    /* Sereal has another form for values that may be referred to again. */
    if (HAS(IW_HINTS) && SvREFCNT(sv) > 1)
        flags |= ICECORE_FLAG_HINT;
    if (fast_referent(aTHX_ w, sv, flags, key, levels))
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
