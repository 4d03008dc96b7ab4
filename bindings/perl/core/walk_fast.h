/* A recursion for the most common data: arrays and hashes of strings and numbers to which
 * nothing else refers. At the first value of another kind the recursion ends and undoes its
 * work, and the loop in walk.c walks everything.
 *
 * This file is a template. Each format includes it once, so that the properties of the format
 * are constants for the compiler. Before the include, the format defines
 *
 *   IW_FORMAT       its properties, as in iw_rules
 *   IW_PUSH_SCALAR  its push_scalar, as in iw_rules
 *   IW_PUT_BOOLEAN  optional: a function of (w, sv, key). If `sv`, the target of a reference,
 *                   is a boolean, it puts the boolean and returns true.
 *
 * The result is the function put_fast. */
#include "core/leaf.h"

#define IW_HAS(property) ((IW_FORMAT & (property)) != 0)

/* The functions here keep the positions of the next node and the next string in the local
 * variables `node` and `text`. perl is compiled without strict aliasing. So the compiler assumes
 * that a store to a node may change the positions in the tape, and would read them again after
 * each store. IW_LOAD_POSITIONS reads the positions from the tape. IW_SAVE_POSITIONS writes them
 * back before other code uses the tape. */
#define IW_LOAD_POSITIONS (node = w->tape->nodes + w->tape->node_count, text = w->tape->arena + w->tape->arena_len)
#define IW_SAVE_POSITIONS                                                                                            \
    (w->tape->node_count = (size_t)(node - w->tape->nodes), w->tape->arena_len = (size_t)(text - w->tape->arena))
#define IW_FITS(len) ((size_t)(w->tape->arena + w->tape->arena_capacity - text) >= (len) + ICE_SLACK)

/* Fills a node, and returns the position of the next one. */
PERL_STATIC_INLINE icecore_node *
put_node_with_flags(icecore_node *node, U8 kind, U8 flags, U16 key, U32 aux, U64 payload)
{
#if BYTEORDER == 0x12345678
    /* One store instead of four. */
    const U64 first_word = (U64)aux << 32 | (U64)key << 16 | (U64)flags << 8 | kind;
    memcpy(node, &first_word, 8);
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
    return put_node_with_flags(node, kind, 0, key, aux, payload);
}

/* Number of nodes in a part. This many nodes fit into the first-level cache. */
#define IW_PART_NODES 512

/* Hands over the nodes so far to the writer, so that large data takes no memory for its
 * nodes. They can't be removed later. Returns false if the walk has to begin again, without
 * parts. */
static bool
hand_over_part(pTHX_ iw_walker *w)
{
    const ice_part_result result = ice_write_part(w->ctx->pooled.engine, w->stage, w->tape, &w->parts_written);
    if (result == ICE_PART_UNSUPPORTED)
        w->stage = NULL;
    return result != ICE_PART_RESTART;
}

/* Makes room for `count` nodes, so that this number of nodes can be put without a check. Returns
 * false if the walk has to begin again. */
PERL_STATIC_INLINE bool
reserve(pTHX_ iw_walker *w, size_t count)
{
    if (UNLIKELY(w->tape->node_count >= IW_PART_NODES) && w->stage && !hand_over_part(aTHX_ w))
        return FALSE;
    if (UNLIKELY(w->tape->node_capacity - w->tape->node_count < count))
        ice_reserve_nodes(w->ctx->pooled.engine, w->tape, count);
    return TRUE;
}

/* Ends a container. Does nothing if its node was handed over in a part. `parts_before` is the
 * number of parts when the container began. */
PERL_STATIC_INLINE void
end_container(iw_walker *w, U32 container, U32 parts_before)
{
    if (LIKELY(w->parts_written == parts_before))
        w->tape->nodes[container].payload = w->tape->node_count;
}

/* True if a scalar with these flags is only a string, or only an integer. For JSON, the only format
 * with IW_TREE, the private flags must not be set either, because it prefers a float to an integer. */
#define IW_IS_STRING(sv_flags) (((sv_flags) & (SVf_POK | SVf_IOK | SVf_NOK | SVf_ROK)) == SVf_POK)
#define IW_NOT_INTEGER (SVf_POK | SVf_NOK | SVf_ROK | SVf_IVisUV | (IW_HAS(IW_TREE) ? SVp_POK | SVp_NOK : 0))
#define IW_IS_INTEGER(sv_flags) (((sv_flags) & (SVf_IOK | IW_NOT_INTEGER)) == SVf_IOK)
/* True if a value with these flags is a scalar without magic. */
#define IW_IS_BARE(sv_flags) (((sv_flags) & SVTYPEMASK) < SVt_PVMG)

/* Hashes with more keys are sorted by walk_sorted.c. */
#define IW_MAX_SORTED_KEYS 64

static bool fast_ref(pTHX_ iw_walker *w, SV *rv, U16 key, int levels);
PERL_STATIC_INLINE bool fast_referent(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key, int levels);

/* Puts a string for which there is room. A string of at most 16 bytes is copied as a block of 16
 * bytes if its buffer has this size. The block may be longer than the string. This is safe,
 * because the arena has ICE_SLACK more bytes, and the next string overwrites the rest. */
#define IW_PUT_STRING(sv, sv_flags, id, arena)                                                                       \
    {                                                                                                                \
        const STRLEN size = SvCUR(sv);                                                                               \
        const U64 offset = (U64)(text - (arena)) | ICECORE_IN_ARENA;                                                 \
        if (size <= 16 && SvLEN(sv) >= 16)                                                                           \
            memcpy(text, SvPVX_const(sv), 16);                                                                       \
        else                                                                                                         \
            ice_copy((char *)text, SvPVX_const(sv), size);                                                           \
        text += size;                                                                                                \
        node = put_node(node, (sv_flags) & SVf_UTF8 ? ICECORE_TEXT : ICECORE_BYTES, id, (U32)size, offset);          \
    }

/* Puts a scalar at `node` and `text`, and moves both on. There is room for the node. Short
 * strings and integers are put directly, references by the statement `put_ref`, all others by
 * IW_PUSH_SCALAR. The last two may fill the tape or move it. So afterwards `reserve` makes room
 * for the `remaining` entries again, and the positions are loaded again. */
#define IW_PUT_SCALAR(sv, sv_flags, id, is_item, put_ref)                                                            \
    if (LIKELY(IW_IS_STRING(sv_flags))) {                                                                            \
        const STRLEN len = SvCUR(sv);                                                                                \
        if (UNLIKELY(!IW_FITS(len) || len >= ICECORE_LONG)) {                                                        \
            IW_SAVE_POSITIONS;                                                                                       \
            IW_PUSH_SCALAR(aTHX_ w, sv, 0, id, is_item);                                                             \
            if (!reserve(aTHX_ w, remaining))                                                                        \
                return FALSE;                                                                                        \
            IW_LOAD_POSITIONS;                                                                                       \
        } else {                                                                                                     \
            IW_PUT_STRING(sv, sv_flags, id, w->tape->arena)                                                          \
        }                                                                                                            \
    } else if (IW_IS_INTEGER(sv_flags))                                                                              \
        node = put_node(node, ICECORE_INT, id, 0, (U64)(I64)SvIVX(sv));                                              \
    else {                                                                                                           \
        IW_SAVE_POSITIONS;                                                                                           \
        if ((sv_flags) & SVf_ROK) {                                                                                  \
            put_ref                                                                                                  \
        } else                                                                                                       \
            IW_PUSH_SCALAR(aTHX_ w, sv, 0, id, is_item);                                                             \
        if (!reserve(aTHX_ w, remaining))                                                                            \
            return FALSE;                                                                                            \
        IW_LOAD_POSITIONS;                                                                                           \
    }

/* The fast_ functions put a value, and return true. If the value, or something in it, is not
 * plain, they return false, and put_fast undoes what they put. */
static bool
fast_hash(pTHX_ iw_walker *w, HV *hv, U8 flags, U16 key, int levels)
{
    const size_t count = HvTOTALKEYS(hv);
    const U32 max_bucket = (U32)HvMAX(hv), parts_before = w->parts_written;
    const bool sorts_keys = w->settings->sort_keys && count > 1;
    const U32 container = iw_push(aTHX_ w, ICECORE_MAP, flags, key, (U32)count, 0);
    U32 i = 0, order = 0;
    size_t remaining = count; /* number of entries that are not put yet */
    icecore_node *node;
    U8 *text;
    HE **buckets, *he = NULL, *sorted[IW_MAX_SORTED_KEYS];

    if (IW_HAS(IW_KEY_FLAGS) && (HvHASKFLAGS(hv) || SvREADONLY((SV *)hv)))
        return FALSE;
    if (IW_HAS(IW_PERL_ORDER))
        order = iw_bucket_order(aTHX_ w, hv) & max_bucket;
    if (UNLIKELY(w->settings->sort_code != NULL))
        return FALSE;
    if (HvPLACEHOLDERS_get(hv) || count > ICECORE_MAX_ENTRIES_WITH_IDS
        || (HvHasAUX(hv) && HvAUX(hv)->xhv_backreferences))
        return FALSE;
    if (!reserve(aTHX_ w, remaining))
        return FALSE;
    IW_LOAD_POSITIONS;
    buckets = HvARRAY(hv);
    if (UNLIKELY(sorts_keys)) {
        /* The hash has no placeholders here, so its buckets have exactly `count` entries. */
        size_t found = 0;
        if (count > IW_MAX_SORTED_KEYS)
            return FALSE;
        for (i = 0; found < count; i++)
            for (he = buckets[i]; he; he = HeNEXT(he))
                sorted[found++] = he;
        iw_sort_entries(aTHX_ sorted, count);
        i = 0;
    }
    /* As long as entries remain, one of the next buckets is not empty. `order` is masked, so the
     * XOR stays below the number of buckets. */
    for (; remaining; he = HeNEXT(he)) {
        SV *sv;
        U32 sv_flags;
        U16 id;
        if (UNLIKELY(sorts_keys))
            he = sorted[i++];
        else
            while (!he)
                he = buckets[i++ ^ order];
        sv = HeVAL(he);
        sv_flags = SvFLAGS(sv);
        if (UNLIKELY((SvREFCNT(sv) != 1 && !IW_HAS(IW_TREE)) || !IW_IS_BARE(sv_flags)))
            return FALSE;
        id = ice_key_id(aTHX_ w->ctx, he, IW_HAS(IW_KEY_FLAGS));
        if (UNLIKELY(!id))
            return FALSE;
        remaining--;
        IW_PUT_SCALAR(sv, sv_flags, id, FALSE, if (!fast_ref(aTHX_ w, sv, id, levels)) return FALSE;)
    }
    IW_SAVE_POSITIONS;
    end_container(w, container, parts_before);
    return TRUE;
}

/* ---- hashes of the same shape ------------------------------------------
 *
 * In a list most hashes have the same keys as the hash before. The keys of a hash and their
 * buckets are called its shape here. The next hash has the same shape if it has the same number
 * of keys, and each key of the shape is in its bucket. Then the hash has no other keys. So no id
 * has to be looked up, and no other bucket has to be searched. */

#define IW_MAX_SHAPE_KEYS 32
#define IW_MAX_SHAPE_BUCKETS 64
/* After this many hashes that differ from the previous one, the prediction is given up. */
#define IW_MAX_MISSES 8

typedef struct {
    const HEK *hek;
    U16 id;
    U8 bucket; /* or IW_SAME_BUCKET if the key follows the previous one in its bucket */
} shape_key;

enum { IW_SAME_BUCKET = 0xFF };

typedef struct {
    U32 count; /* number of keys; 0 as long as no hash was learned */
    U32 max_bucket;
    U32 misses;                            /* number of hashes since the last one that had the shape */
    shape_key keys[IW_MAX_SHAPE_KEYS + 1]; /* in the order of the buckets; the last one has no key */
    U8 first_key[IW_MAX_SHAPE_BUCKETS];    /* for each bucket, the index in `keys` of its first key */
} hash_shape;

#define IW_MAGIC_FLAGS (SVs_OBJECT | SVs_GMG | SVs_SMG | SVs_RMG)
#define IW_HASH_FLAGS                                                                                                \
    (SVTYPEMASK | IW_MAGIC_FLAGS | (IW_HAS(IW_KEY_FLAGS) ? SVphv_HASKFLAGS | SVf_READONLY | SVf_PROTECT : 0))

/* Returns true if a value is a hash that may be put by its shape. */
PERL_STATIC_INLINE bool
can_have_shape(HV *hv)
{
    return (SvFLAGS((SV *)hv) & IW_HASH_FLAGS) == SVt_PVHV && !SvMAGIC((SV *)hv);
}

/* Learns the shape of a hash that was put. Gives up after too many hashes of different shapes. */
static void
learn_shape(pTHX_ iw_walker *w, hash_shape *shape, HV *hv)
{
    const U32 max_bucket = (U32)HvMAX(hv);
    U32 count = 0, i;
    shape->count = 0;
    if (++shape->misses >= IW_MAX_MISSES || w->settings->sort_keys || HvTOTALKEYS(hv) > IW_MAX_SHAPE_KEYS
        || HvTOTALKEYS(hv) == 0 || max_bucket >= IW_MAX_SHAPE_BUCKETS)
        return;
    for (i = 0; i <= max_bucket; i++) {
        HE *he = HvARRAY(hv)[i];
        shape->first_key[i] = (U8)count;
        for (; he; he = HeNEXT(he)) {
            shape->keys[count].hek = HeKEY_hek(he);
            shape->keys[count].id = ice_key_id(aTHX_ w->ctx, he, IW_HAS(IW_KEY_FLAGS));
            shape->keys[count].bucket = he == HvARRAY(hv)[i] ? (U8)i : IW_SAME_BUCKET;
            if (!shape->keys[count++].id)
                return;
        }
    }
    shape->keys[count].hek = NULL;
    shape->max_bucket = max_bucket;
    shape->count = count;
}

/* Pointers and limits of the tape, read once for many hashes. */
typedef struct {
    icecore_node *nodes;
    U8 *arena;
    const U8 *text_limit; /* a string of 16 bytes fits at each position before this one */
    SSize_t last_start;   /* the last index at which the node of a hash may be */
} tape_limits;

/* Returns the limits for hashes after which `remaining` nodes must stay free. */
PERL_STATIC_INLINE tape_limits
tape_limits_of(const iw_walker *w, size_t remaining)
{
    const icecore_tape *tape = w->tape;
    tape_limits limits = { tape->nodes, tape->arena, tape->arena,
                           (SSize_t)(tape->node_capacity - remaining) - IW_MAX_SHAPE_KEYS - 1 };
    if (tape->arena_capacity > ICE_SLACK + 16)
        limits.text_limit += tape->arena_capacity - ICE_SLACK - 16;
    if (w->stage && limits.last_start >= IW_PART_NODES)
        limits.last_start = IW_PART_NODES - 1; /* the part is complete */
    return limits;
}

/* Puts a hash of scalars that has the shape. Its nodes go to `*next_node` and its bytes to
 * `*next_text`, and both move on. If the hash has another shape, returns false and undoes
 * everything. */
PERL_STATIC_INLINE bool
put_by_shape(pTHX_ iw_walker *w, const hash_shape *shape, HV *hv, icecore_node **next_node, U8 **next_text,
           tape_limits *limits, size_t remaining)
{
    const U32 count = shape->count, max_bucket = shape->max_bucket;
    icecore_node *node = *next_node;
    U8 *text = *next_text;
    const SSize_t node_start = node - limits->nodes, text_start = text - limits->arena;
    const shape_key *key = shape->keys;
    const HEK *hek = key->hek;
    U32 i = 0, order = 0, done = 0;
    HE *he = NULL, **buckets;

    if (!can_have_shape(hv) || (!IW_HAS(IW_TREE) && SvREFCNT((SV *)hv) != 1) || HvTOTALKEYS(hv) != count
        || HvMAX(hv) != max_bucket || UNLIKELY(node_start > limits->last_start))
        return FALSE;
    if (IW_HAS(IW_PERL_ORDER))
        order = iw_bucket_order(aTHX_ w, hv) & max_bucket;
    if (UNLIKELY(HvHasAUX(hv)) && HvAUX(hv)->xhv_backreferences)
        return FALSE;
    /* All values are scalars of one node, so the map ends `count` nodes after its own node. */
    node = put_node_with_flags(node, ICECORE_MAP, IW_FLAG_REF, 0, count, (U64)node_start + 1 + count);
    for (buckets = HvARRAY(hv); IW_HAS(IW_PERL_ORDER) ? done++ < count : hek != NULL; hek = key->hek) {
        SV *sv;
        U32 sv_flags;
        U16 id;
        if (!IW_HAS(IW_PERL_ORDER))
            he = UNLIKELY(key->bucket == IW_SAME_BUCKET) ? HeNEXT(he) : buckets[key->bucket];
        else if (!(he = he ? HeNEXT(he) : NULL)) {
            while (!(he = buckets[i ^ order]))
                i++;
            key = shape->keys + shape->first_key[i++ ^ order];
            hek = key->hek;
        }
        if (UNLIKELY(!he || HeKEY_hek(he) != hek))
            goto mismatch;
        id = key++->id;
        sv = HeVAL(he);
        sv_flags = SvFLAGS(sv);
        if (UNLIKELY((SvREFCNT(sv) != 1 && !IW_HAS(IW_TREE)) || !IW_IS_BARE(sv_flags)))
            goto mismatch;
        if (IW_IS_INTEGER(sv_flags))
            node = put_node(node, ICECORE_INT, id, 0, (U64)(I64)SvIVX(sv));
        else if (LIKELY(IW_IS_STRING(sv_flags)) && LIKELY(SvCUR(sv) <= 16) && LIKELY(text < limits->text_limit))
            IW_PUT_STRING(sv, sv_flags, id, limits->arena)
        else if (IW_IS_STRING(sv_flags) && IW_FITS(SvCUR(sv)) && SvCUR(sv) < ICECORE_LONG)
            IW_PUT_STRING(sv, sv_flags, id, limits->arena)
        else if (sv_flags & SVf_ROK)
            goto mismatch;
        else {
            IW_SAVE_POSITIONS;
            IW_PUSH_SCALAR(aTHX_ w, sv, 0, id, FALSE);
            IW_LOAD_POSITIONS;
            *limits = tape_limits_of(w, remaining);
        }
    }
    *next_node = node;
    *next_text = text;
    return TRUE;
mismatch: /* IW_PUSH_SCALAR may have moved the tape, so the positions are computed again */
    *next_node = limits->nodes + node_start;
    *next_text = limits->arena + text_start;
    return FALSE;
}

/* Puts an item of an array that is a reference, and hashes after it that have the shape. The
 * array has `remaining` items after it: `items`. Returns how many of these were put too; a
 * negative number if `rv` is not plain. */
static SSize_t
fast_items(pTHX_ iw_walker *w, hash_shape *shape, SV *rv, SV **items, size_t remaining, int levels)
{
    if (shape->count) {
        const size_t item_count = remaining;
        icecore_node *node;
        U8 *text;
        tape_limits limits = tape_limits_of(w, remaining);
        IW_LOAD_POSITIONS;
        while (rv && (SvFLAGS(rv) & (SVTYPEMASK | SVf_ROK | SVprv_WEAKREF)) == (SVt_IV | SVf_ROK)
               && (IW_HAS(IW_TREE) || SvREFCNT(rv) == 1)
               && put_by_shape(aTHX_ w, shape, (HV *)SvRV(rv), &node, &text, &limits, remaining)) {
            shape->misses = 0;
            if (!remaining) {
                IW_SAVE_POSITIONS;
                return (SSize_t)item_count;
            }
            rv = *items++;
            remaining--;
        }
        IW_SAVE_POSITIONS;
        /* The first hash that was put is the caller's own item, so it is not counted. `rv` is an
         * item without the shape, and the caller puts it. */
        if (remaining < item_count)
            return (SSize_t)(item_count - remaining) - 1;
    }
    if (!fast_ref(aTHX_ w, rv, 0, levels))
        return -1;
    if (shape->misses < IW_MAX_MISSES && can_have_shape((HV *)SvRV(rv)))
        learn_shape(aTHX_ w, shape, (HV *)SvRV(rv));
    return 0;
}

/* Puts an array. Room is made for IW_PART_NODES items at a time, so that the nodes can be handed
 * over as a part in between. Without further levels no hash can be put, so no shape is learned. */
static bool
fast_array(pTHX_ iw_walker *w, AV *av, U8 flags, U16 key, int levels)
{
    const size_t count = (size_t)(AvFILLp(av) + 1);
    const U32 parts_before = w->parts_written, container = iw_push(aTHX_ w, ICECORE_ARRAY, flags, key, (U32)count, 0);
    SV **items = AvARRAY(av), **end = items + count;
    icecore_node *node;
    U8 *text;
    hash_shape shape;

    shape.count = 0;
    shape.misses = levels ? 0 : IW_MAX_MISSES;
    if (count > U32_MAX)
        return FALSE;
    while (items < end) {
        size_t remaining = (size_t)(end - items) < IW_PART_NODES ? (size_t)(end - items) : IW_PART_NODES;
        if (!reserve(aTHX_ w, remaining))
            return FALSE;
        IW_LOAD_POSITIONS;
        while (remaining) {
            SV *sv = *items++;
            U32 sv_flags;
            remaining--;
            if (UNLIKELY(!sv)) {
                node = put_node(node, ICECORE_HOLE, 0, 0, 0);
                continue;
            }
            sv_flags = SvFLAGS(sv);
            if (UNLIKELY((SvREFCNT(sv) != 1 && !IW_HAS(IW_TREE)) || !IW_IS_BARE(sv_flags)))
                return FALSE;
            IW_PUT_SCALAR(sv, sv_flags, 0, TRUE, {
                const SSize_t extra_items = fast_items(aTHX_ w, &shape, sv, items, remaining, levels);
                if (extra_items < 0)
                    return FALSE;
                items += extra_items;
                remaining -= (size_t)extra_items;
            })
        }
        IW_SAVE_POSITIONS;
    }
    end_container(w, container, parts_before);
    return TRUE;
}

/* Puts the target of a reference; `flags` are for its node. */
PERL_STATIC_INLINE bool
fast_referent(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key, int levels)
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
fast_ref(pTHX_ iw_walker *w, SV *rv, U16 key, int levels)
{
    SV *sv = SvRV(rv);
#ifdef IW_PUT_BOOLEAN
    if (IW_PUT_BOOLEAN(aTHX_ w, sv, key))
        return TRUE;
#endif
    if (IW_HAS(IW_TREE))
        return fast_referent(aTHX_ w, sv, IW_FLAG_REF, key, levels);
    return SvREFCNT(sv) == 1 && !SvWEAKREF(rv) && fast_referent(aTHX_ w, sv, IW_FLAG_REF, key, levels);
}

/* Puts the target of a reference, if it has at most `levels` levels. If it contains anything
 * but arrays, hashes, strings and numbers, returns false and undoes everything. Unless
 * `is_root` is true, there must be no other reference to the target. */
static bool
put_fast(pTHX_ iw_walker *w, SV *rv, U16 key, int levels, bool is_root)
{
    const size_t nodes = w->tape->node_count, arena = w->tape->arena_len;
    const U32 parts_before = w->parts_written;
    SV *sv = SvRV(rv);
    U8 flags = IW_FLAG_REF;
    if (SvMAGICAL(rv) || (!IW_HAS(IW_TREE) && (SvWEAKREF(rv) || (SvREFCNT(sv) > 1 && !is_root))))
        return FALSE;
    /* Sereal has another form for values with several references. */
    if (IW_HAS(IW_HINTS) && SvREFCNT(sv) > 1)
        flags |= ICECORE_FLAG_HINT;
    if (fast_referent(aTHX_ w, sv, flags, key, levels))
        return TRUE;
    /* Parts that are written can't be undone, so the walk begins again and writes no parts. */
    w->stage = NULL;
    if (w->parts_written != parts_before) {
        iw_begin(aTHX_ w);
        return FALSE;
    }
    w->tape->node_count = nodes;
    w->tape->arena_len = arena;
    return FALSE;
}
