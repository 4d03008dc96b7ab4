/* Arrays and hashes of leaves. */
#include "build_entries.h"
#include "build_leaf.h"

/* An array of which every item is a leaf that nothing names, or as many of its
 * items as are. */
U32
ib_fill_array(pTHX_ build *b, AV *av, U32 at, U32 end)
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

U32
ib_fill_hash(pTHX_ build *b, HV *hv, U32 at, U32 end)
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
        ib_store_entry(aTHX_ b->ctx, hv, key, new_leaf(aTHX_ b, node));
        at++;
    }
    return at;
}
