/* Fast paths for the most common data: arrays and hashes whose nodes are not the target of
 * a link or alias. */
#include "core/build_entries.h"
#include "core/build_leaf.h"

/* Appends the leaves from node `at` on to an array. Stops at the first node that is not a
 * leaf, or is the target of a link or alias. Returns the index of that node, or `end`. */
U32
ib_fill_array(pTHX_ ib_build *b, AV *av, U32 at, U32 end)
{
    SV **items = AvARRAY(av);
    SSize_t index = AvFILLp(av), max = AvMAX(av);
    const icecore_node *nodes = b->v->nodes;
    while (at < end && index < max) {
        const icecore_node *node = &nodes[at];
        SV *sv;
        if (!is_leaf(node) || node->flags & ICECORE_FLAG_TARGET)
            break;
        if (LIKELY(node->kind == ICECORE_INT))
            sv = new_int(aTHX_ (IV)(I64)node->payload);
        else {
            /* new_leaf may die: the array must then have the items so far. */
            AvFILLp(av) = index;
            sv = new_leaf(aTHX_ b, node);
        }
        items[++index] = sv;
        at++;
    }
    AvFILLp(av) = index;
    return at;
}

/* The same for the entries of a hash. Also stops at an entry that needs special treatment:
 * a hole, a key that is a node, a locked or absent key. */
U32
ib_fill_hash(pTHX_ ib_build *b, HV *hv, U32 at, U32 end)
{
    const icecore_node *nodes = b->v->nodes;
    ice_keys *keys = &b->ctx->keys;
    while (at < end) {
        const icecore_node *node = &nodes[at];
        SV *key;
        if (!is_leaf(node) || node->flags & ICECORE_FLAG_TARGET || node->key >= ICECORE_IS_KEY
            || node->kind == ICECORE_HOLE)
            break;
        key = LIKELY(node->key < keys->capacity) && LIKELY(keys->by_id[node->key] != NULL)
                  ? (SV *)keys->by_id[node->key]
                  : ice_key_sv(aTHX_ b->ctx, b->v, node->key);
        if (UNLIKELY(b->v->keys.names[node->key - 1].node.flags & (ICECORE_FLAG_LOCKED | ICECORE_FLAG_PLACEHOLDER)))
            break;
        ib_store_entry(aTHX_ b->ctx, hv, key, new_leaf(aTHX_ b, node));
        at++;
    }
    return at;
}

/* Maximum nesting for the recursion below. build.c builds deeper documents with a loop. */
#define LEVELS 64

/* Returns whether a document consists of leaves, arrays and unlocked hashes only, has no
 * links, aliases or weak references, and all its keys have ids. */
static bool
is_plain(const icecore_view *v, U32 root)
{
    const icecore_node *node = v->nodes + root, *end = v->nodes + v->node_count;
    for (; node < end; node++) {
        if (node->flags & ICECORE_FLAG_TARGET || node->key >= ICECORE_IS_KEY)
            return FALSE;
        if (UNLIKELY(!is_leaf(node))
            && ((node->kind != ICECORE_ARRAY && node->kind != ICECORE_MAP)
                || node->flags & (ICECORE_FLAG_WEAK | ICECORE_FLAG_RESTRICTED)))
            return FALSE;
    }
    return TRUE;
}

static bool fill_array(pTHX_ ib_build *b, AV *av, const icecore_node *node, int levels);
static bool fill_hash(pTHX_ ib_build *b, HV *hv, const icecore_node *node, int levels);

/* Returns a reference to a new array or hash. */
PERL_STATIC_INLINE SV *
new_container(pTHX_ const icecore_node *node)
{
    SV *rv = newSV_type(SVt_IV);
    SvRV_set(rv, node->kind == ICECORE_ARRAY ? (SV *)newAV() : (SV *)ib_new_hash(aTHX_ node->aux));
    SvROK_on(rv);
    return rv;
}

PERL_STATIC_INLINE bool
fill(pTHX_ ib_build *b, SV *sv, const icecore_node *node, int levels)
{
    if (node->aux == 0)
        return TRUE;
    return node->kind == ICECORE_ARRAY ? fill_array(aTHX_ b, (AV *)sv, node, levels)
                                       : fill_hash(aTHX_ b, (HV *)sv, node, levels);
}

static bool
fill_array(pTHX_ ib_build *b, AV *av, const icecore_node *node, int levels)
{
    const icecore_node *end = b->v->nodes + (U32)node->payload;
    SV **items;
    SSize_t index = -1, last = (SSize_t)node->aux - 1;
    if (levels == 0)
        return FALSE;
    av_extend(av, last);
    items = AvARRAY(av);
    for (node++; node < end && index < last;) {
        SV *sv;
        if (LIKELY(node->kind == ICECORE_INT))
            items[++index] = new_int(aTHX_ (IV)(I64)node++->payload);
        else if (node->kind == ICECORE_BYTES) {
            AvFILLp(av) = index; /* new_bytes may die, as above */
            items[++index] = new_bytes(aTHX_ b, node++);
        } else if (is_leaf(node)) {
            AvFILLp(av) = index;
            items[++index] = new_leaf(aTHX_ b, node++);
        } else {
            items[++index] = sv = new_container(aTHX_ node);
            AvFILLp(av) = index;
            if (!fill(aTHX_ b, SvRV(sv), node, levels - 1))
                return FALSE;
            node = b->v->nodes + (U32)node->payload;
        }
    }
    AvFILLp(av) = index;
    return TRUE;
}

static bool
fill_hash(pTHX_ ib_build *b, HV *hv, const icecore_node *node, int levels)
{
    const icecore_node *end = b->v->nodes + (U32)node->payload;
    ice_keys *keys = &b->ctx->keys;
    if (levels == 0)
        return FALSE;
    for (node++; node < end;) {
        const U16 id = node->key;
        SV *sv;
        HEK *hek;
        if (UNLIKELY(id >= keys->capacity || !(hek = (HEK *)keys->address[id]))) {
            (void)ice_key_sv(aTHX_ b->ctx, b->v, id);
            hek = (HEK *)keys->address[id];
            if (!hek && b->v->keys.names[id - 1].node.flags & (ICECORE_FLAG_LOCKED | ICECORE_FLAG_PLACEHOLDER))
                return FALSE;
        }
        if (LIKELY(node->kind == ICECORE_BYTES))
            sv = new_bytes(aTHX_ b, node);
        else if (node->kind == ICECORE_INT)
            sv = new_int(aTHX_ (IV)(I64)node->payload);
        else if (!is_leaf(node))
            sv = new_container(aTHX_ node);
        else if (UNLIKELY(node->kind == ICECORE_HOLE))
            return FALSE;
        else
            sv = new_leaf(aTHX_ b, node);
        if (UNLIKELY(!hek || !ib_store_direct(aTHX_ b->ctx, hv, hek, sv)))
            ib_store_entry(aTHX_ b->ctx, hv, (SV *)keys->by_id[id], sv);
        if (is_leaf(node))
            node++;
        else {
            if (!fill(aTHX_ b, SvRV(sv), node, levels - 1))
                return FALSE;
            node = b->v->nodes + (U32)node->payload;
        }
    }
    return TRUE;
}

/* Builds a plain document and returns a reference to its root, which is also in ctx->root.
 * Returns NULL if the document is not plain or is too deep; then build.c builds it. */
SV *
ib_fast(pTHX_ ib_build *b, U32 root)
{
    const icecore_node *node = &b->v->nodes[root];
    if (is_leaf(node) || !(b->v->is_simple || is_plain(b->v, root)))
        return NULL;
    b->ctx->root = new_container(aTHX_ node);
    if (!fill(aTHX_ b, SvRV(b->ctx->root), node, LEVELS)) {
        SvREFCNT_dec(b->ctx->root);
        b->ctx->root = NULL;
    }
    return b->ctx->root;
}
