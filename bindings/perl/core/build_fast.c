/* Builds the most common data on fast paths: leaves, arrays and hashes to which no link or alias
 * refers. */
#include "core/build_entries.h"
#include "core/build_leaf.h"

/* Appends leaves to an array, from the node `node_index` on. Stops at the first node that is not a
 * leaf, or is the target of a link or alias. Returns the index of that node, or `end`. */
U32
ib_append_leaves(pTHX_ ib_builder *b, AV *av, U32 node_index, U32 end)
{
    SV **items = AvARRAY(av);
    SSize_t filled = AvFILLp(av), max = AvMAX(av); /* indices of the last item and the last slot */
    const icecore_node *nodes = b->view->nodes;
    while (node_index < end && filled < max) {
        const icecore_node *node = &nodes[node_index];
        SV *sv;
        if (!ib_is_leaf(node) || node->flags & ICECORE_FLAG_TARGET)
            break;
        if (LIKELY(node->kind == ICECORE_INT))
            sv = ib_new_int(aTHX_ (IV)(I64)node->payload);
        else {
            /* ib_new_leaf may die. AvFILLp must count the items so far before the call, so that
             * they are freed with the array. */
            AvFILLp(av) = filled;
            sv = ib_new_leaf(aTHX_ b, node);
        }
        items[++filled] = sv;
        node_index++;
    }
    AvFILLp(av) = filled;
    return node_index;
}

/* Does the same for the entries of a hash. Also stops at an entry that needs special treatment:
 * a hole, a key that is a node, a locked or absent key. */
U32
ib_store_leaves(pTHX_ ib_builder *b, HV *hv, U32 node_index, U32 end)
{
    const icecore_node *nodes = b->view->nodes;
    ice_keys *keys = &b->ctx->keys;
    while (node_index < end) {
        const icecore_node *node = &nodes[node_index];
        SV *key;
        if (!ib_is_leaf(node) || node->flags & ICECORE_FLAG_TARGET || node->key >= ICECORE_IS_KEY
            || node->kind == ICECORE_HOLE)
            break;
        key = LIKELY(node->key < keys->capacity) && LIKELY(keys->by_id[node->key] != NULL)
                ? (SV *)keys->by_id[node->key]
                : ice_key_sv(aTHX_ b->ctx, b->view, node->key);
        if (UNLIKELY(b->view->keys.names[node->key - 1].node.flags
                     & (ICECORE_FLAG_LOCKED | ICECORE_FLAG_PLACEHOLDER)))
            break;
        ib_store_entry(aTHX_ b->ctx, hv, key, ib_new_leaf(aTHX_ b, node));
        node_index++;
    }
    return node_index;
}

/* Maximum nesting for the recursion below. The loop in build.c builds deeper documents. */
#define MAX_RECURSION 64

/* Returns true if a document consists of leaves, arrays and unlocked hashes only, has no
 * links, aliases or weak references, and all its keys have ids. */
static bool
is_plain_document(const icecore_view *view, U32 root)
{
    const icecore_node *node = view->nodes + root, *end = view->nodes + view->node_count;
    for (; node < end; node++) {
        if (node->flags & ICECORE_FLAG_TARGET || node->key >= ICECORE_IS_KEY)
            return FALSE;
        if (UNLIKELY(!ib_is_leaf(node))
            && ((node->kind != ICECORE_ARRAY && node->kind != ICECORE_MAP)
                || node->flags & (ICECORE_FLAG_WEAK | ICECORE_FLAG_RESTRICTED)))
            return FALSE;
    }
    return TRUE;
}

static bool fill_array_recursively(pTHX_ ib_builder *b, AV *av, const icecore_node *node, int levels);
static bool fill_hash_recursively(pTHX_ ib_builder *b, HV *hv, const icecore_node *node, int levels);

/* Returns a reference to a new array or hash. */
PERL_STATIC_INLINE SV *
new_container(pTHX_ const icecore_node *node)
{
    SV *rv = newSV_type(SVt_IV);
    SvRV_set(rv, node->kind == ICECORE_ARRAY ? (SV *)newAV() : (SV *)ib_new_hash(aTHX_ node->aux));
    SvROK_on(rv);
    return rv;
}

/* The fill functions return false if the nesting is too deep, or if an entry needs special
 * treatment. */
PERL_STATIC_INLINE bool
fill_container(pTHX_ ib_builder *b, SV *sv, const icecore_node *node, int levels)
{
    if (node->aux == 0)
        return TRUE;
    return node->kind == ICECORE_ARRAY ? fill_array_recursively(aTHX_ b, (AV *)sv, node, levels)
                                       : fill_hash_recursively(aTHX_ b, (HV *)sv, node, levels);
}

static bool
fill_array_recursively(pTHX_ ib_builder *b, AV *av, const icecore_node *node, int levels)
{
    const icecore_node *end = b->view->nodes + (U32)node->payload;
    SV **items;
    SSize_t filled = -1, last = (SSize_t)node->aux - 1; /* indices of the last items, so far and at the end */
    if (levels == 0)
        return FALSE;
    av_extend(av, last);
    items = AvARRAY(av);
    /* av_extend has made slots up to the index `last`, so no store needs a check. AvFILLp is
     * updated before each call that may die, so that all items so far are freed with the array. */
    for (node++; node < end && filled < last;) {
        SV *sv;
        if (LIKELY(node->kind == ICECORE_INT))
            items[++filled] = ib_new_int(aTHX_ (IV)(I64)node++->payload);
        else if (node->kind == ICECORE_BYTES) {
            AvFILLp(av) = filled;
            items[++filled] = ib_new_bytes(aTHX_ b, node++);
        } else if (ib_is_leaf(node)) {
            AvFILLp(av) = filled;
            items[++filled] = ib_new_leaf(aTHX_ b, node++);
        } else {
            items[++filled] = sv = new_container(aTHX_ node);
            AvFILLp(av) = filled;
            if (!fill_container(aTHX_ b, SvRV(sv), node, levels - 1))
                return FALSE;
            node = b->view->nodes + (U32)node->payload;
        }
    }
    AvFILLp(av) = filled;
    return TRUE;
}

static bool
fill_hash_recursively(pTHX_ ib_builder *b, HV *hv, const icecore_node *node, int levels)
{
    const icecore_node *end = b->view->nodes + (U32)node->payload;
    ice_keys *keys = &b->ctx->keys;
    if (levels == 0)
        return FALSE;
    for (node++; node < end;) {
        const U16 id = node->key;
        SV *sv;
        /* NULL if the key is locked or absent, or if its SV has no shared key. A locked or absent
         * key ends the fast path. Any other key without `hek` is stored by its SV. */
        HEK *hek;
        if (UNLIKELY(id >= keys->capacity || !(hek = (HEK *)keys->address[id]))) {
            (void)ice_key_sv(aTHX_ b->ctx, b->view, id);
            hek = (HEK *)keys->address[id];
            if (!hek && b->view->keys.names[id - 1].node.flags & (ICECORE_FLAG_LOCKED | ICECORE_FLAG_PLACEHOLDER))
                return FALSE;
        }
        if (LIKELY(node->kind == ICECORE_BYTES))
            sv = ib_new_bytes(aTHX_ b, node);
        else if (node->kind == ICECORE_INT)
            sv = ib_new_int(aTHX_ (IV)(I64)node->payload);
        else if (!ib_is_leaf(node))
            sv = new_container(aTHX_ node);
        else if (UNLIKELY(node->kind == ICECORE_HOLE))
            return FALSE;
        else
            sv = ib_new_leaf(aTHX_ b, node);
        if (UNLIKELY(!hek || !ib_store_direct(aTHX_ b->ctx, hv, hek, sv)))
            ib_store_entry(aTHX_ b->ctx, hv, (SV *)keys->by_id[id], sv);
        if (ib_is_leaf(node))
            node++;
        else {
            if (!fill_container(aTHX_ b, SvRV(sv), node, levels - 1))
                return FALSE;
            node = b->view->nodes + (U32)node->payload;
        }
    }
    return TRUE;
}

/* Builds a plain document and returns a reference to its root, which is also in ctx->root.
 * Returns NULL if the document is not plain or is too deep; then build.c builds it. */
SV *
ib_build_plain_document(pTHX_ ib_builder *b, U32 root)
{
    const icecore_node *node = &b->view->nodes[root];
    if (ib_is_leaf(node) || !(b->view->is_simple || is_plain_document(b->view, root)))
        return NULL;
    b->ctx->root = new_container(aTHX_ node);
    if (!fill_container(aTHX_ b, SvRV(b->ctx->root), node, MAX_RECURSION)) {
        SvREFCNT_dec(b->ctx->root);
        b->ctx->root = NULL;
    }
    return b->ctx->root;
}
