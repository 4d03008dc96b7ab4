/* Stores entries of hashes. build_entries.h explains how. */
#include "core/build_entries.h"
#include "core/build_leaf.h"

bool ib_direct_entries = FALSE;

/* Replaces an existing value. The old value is kept until the end of the call, because its
 * destructor might access what is being built. An empty scalar without other references has no
 * destructor, so it is freed at once. `slot` is NULL if perl could not store the key. */
void
ib_replace_value(pTHX_ ice_context *ctx, SV **slot, SV *value)
{
    SV *old;
    if (!slot) {
        SvREFCNT_dec(value);
        return;
    }
    old = *slot;
    *slot = value;
    if (SvTYPE(old) == SVt_NULL && SvREFCNT(old) == 1)
        SvREFCNT_dec(old);
    else
        ice_keep_for_call(aTHX_ ctx, old);
}

/* Stores a value through perl's interface. */
void
ib_store_by_sv(pTHX_ ice_context *ctx, HV *hv, SV *key, SV *value)
{
    HE *he;
    sv_2mortal(value); /* hv_fetch_ent dies if a hook locked the hash */
    he = hv_fetch_ent(hv, key, TRUE, 0);
    if (he)
        ib_replace_value(aTHX_ ctx, &HeVAL(he), SvREFCNT_inc_simple_NN(value));
}

/* Tests whether entries can be stored directly, and sets ib_direct_entries. */
void
ice_build_boot(pTHX)
{
#if IB_DIRECT_ENTRIES
    /* First, an entry that perl deletes must be the first one in the list of free entries. Then
     * a hash is filled directly, and each value must be found through perl's interface. */
    HV *hv = ib_new_hash(aTHX_ 20);
    ice_context *ctx;
    HE *first;
    char name[8];
    int i;
    bool is_equal;
    ib_direct_entries = FALSE;
    (void)hv_stores(hv, "key0", newSViv(0));
    (void)hv_stores(hv, "gone", newSViv(0));
    first = hv_fetch_ent(hv, sv_2mortal(newSVpvs("gone")), 0, 0);
    (void)hv_deletes(hv, "gone", G_DISCARD);
    if (!first || IB_FREE_ENTRIES != (void *)first) {
        SvREFCNT_dec((SV *)hv);
        return;
    }
    ib_direct_entries = TRUE;
    ENTER;
    ctx = ice_take_context(aTHX);
    for (i = 1; i < 20; i++) {
        SV *key;
        my_snprintf(name, sizeof name, "key%d", i);
        key = newSVpvn_share(name, (I32)strlen(name), 0);
        ib_store_entry(aTHX_ ctx, hv, key, newSViv(i));
        ib_store_entry(aTHX_ ctx, hv, key, newSViv(i * 2));
        SvREFCNT_dec(key);
    }
    LEAVE;
    is_equal = HvUSEDKEYS(hv) == 20;
    for (i = 1; i < 20 && is_equal; i++) {
        SV **value;
        my_snprintf(name, sizeof name, "key%d", i);
        value = hv_fetch(hv, name, (I32)strlen(name), 0);
        is_equal = value && SvIV(*value) == i * 2;
    }
    ib_direct_entries = is_equal;
    SvREFCNT_dec((SV *)hv);
#endif
}

/* Returns a new SV with the key that a node contains; NULL if the node can't be a key. Text must be
 * valid UTF-8. */
static SV *
new_key(pTHX_ ib_builder *b, const icecore_node *node)
{
    switch (node->kind) {
    case ICECORE_INT:
        return newSViv((IV)node->payload);
    case ICECORE_UINT:
        return newSVuv((UV)node->payload);
    case ICECORE_BOOL:
        return newSVpvn("1", node->payload ? 1 : 0);
    case ICECORE_FLOAT: {
        double number;
        memcpy(&number, &node->payload, 8);
        return newSVnv(number);
    }
    case ICECORE_NULL:
    case ICECORE_HOLE:
        return newSVpvs("");
    default:
        return node->kind < ICECORE_BYTES || node->kind > ICECORE_ENUM_CASE ? NULL : ib_new_string(aTHX_ b, node);
    }
}

/* Stores a value under the key that the node `key_node` contains. */
void
ib_store_by_node(pTHX_ ib_builder *b, HV *hv, U32 key_node, SV *value)
{
    const icecore_node *node = &b->view->nodes[key_node];
    SV *key;
    if (node->kind == ICECORE_BYTES || node->kind == ICECORE_TEXT) {
        STRLEN len;
        const char *text = ice_bytes_of(b->view, node, &len);
        if (node->kind == ICECORE_TEXT && !ice_is_utf8((const U8 *)text, len)) {
            SvREFCNT_dec(value);
            ib_croak_bad_utf8(aTHX_ b, node);
        }
        /* After perl code ran, hv_fetch may die, and would leak the value. hv_fetch takes the length
         * as an I32; a negative length means UTF-8. */
        if (len <= I32_MAX && LIKELY(!b->foreign_code_ran)) {
            ib_replace_value(aTHX_ b->ctx,
                             hv_fetch(hv, text, node->kind == ICECORE_TEXT ? -(I32)len : (I32)len, TRUE), value);
            return;
        }
    }
    key = new_key(aTHX_ b, node);
    if (!key) {
        SvREFCNT_dec(value);
        ib_croak_at_node(aTHX_ b, "a key that is not a string", node);
    }
    if (UNLIKELY(b->foreign_code_ran)) {
        ib_store_by_sv(aTHX_ b->ctx, hv, sv_2mortal(key), value);
        return;
    }
    /* Nothing can die here. So the key is freed at once, because a hash may have millions of them. */
    ib_store_by_sv(aTHX_ b->ctx, hv, key, value);
    SvREFCNT_dec(key);
}

/* Stores a key that is allowed in a restricted hash, but absent. */
void
ib_store_placeholder(pTHX_ HV *hv, const char *text, STRLEN len, bool is_utf8)
{
    if (len > I32_MAX || (is_utf8 && !ice_is_utf8((const U8 *)text, len)))
        croak("Icecore: a key that perl does not support");
    if (hv_common(hv, NULL, text, len, is_utf8 ? HVhek_UTF8 : 0, HV_FETCH_ISEXISTS, NULL, 0))
        return; /* the key has a value already */
    hv_common(hv, NULL, text, len, HVhek_PLACEHOLD | (is_utf8 ? HVhek_UTF8 : 0), HV_FETCH_ISSTORE | HV_FETCH_JUST_SV,
              &PL_sv_placeholder, 0);
}
