/* Converts perl's shared hash keys to ids of the engine, and back.
 *
 * perl stores each hash key once, in a HEK that all hashes share. So a key is recognized by the
 * address of its HEK. For each id there is an SV that has the shared key and keeps it alive. */
#include "core/icecore_perl.h"

/* Drops a reference of ice_context.keys. */
static void
release_key(void *interpreter, void *key)
{
#ifdef MULTIPLICITY
    dTHXa((PerlInterpreter *)interpreter);
#else
    PERL_UNUSED_ARG(interpreter);
#endif
    SvREFCNT_dec_NN((SV *)key);
}

#ifdef MULTIPLICITY
#  define CURRENT_INTERPRETER ((void *)aTHX)
#else
#  define CURRENT_INTERPRETER NULL
#endif

void
ice_free_keys(pTHX_ ice_context *ctx)
{
    ice_keys_free(&ctx->keys, release_key, CURRENT_INTERPRETER);
}

void
ice_drop_old_keys(pTHX_ ice_context *ctx, U32 generation)
{
    ice_keys_set_generation(&ctx->keys, generation, release_key, CURRENT_INTERPRETER);
}

/* Stores the key with this id. Its address is stored too if the key has no special flags. The fast
 * paths treat every key with an address as an ordinary one. */
static void
store_key(ice_keys *keys, U16 id, SV *sv, bool has_flags)
{
    ice_keys_store(keys, id, sv);
    if (SvIsCOW_shared_hash(sv) && !has_flags) {
        HEK *hek = SvSHARED_HEK_FROM_PV(SvPVX_const(sv));
        if ((HEK_FLAGS(hek) & ~HVhek_UTF8) == 0)
            keys->address[id] = hek;
    }
}

/* Returns true if a text in UTF-8 contains a character above 0xFF. Such a character begins with a byte
 * above 0xC3. Smaller characters begin with a smaller byte, and so are all further bytes of any
 * character. */
static bool
is_wide(const U8 *text, I32 len)
{
    while (len-- > 0)
        if (*text++ > 0xC3)
            return TRUE;
    return FALSE;
}

/* Dies with a message that has the path of the first value under this key. */
static void
croak_bad_key(pTHX_ ice_context *ctx, const icecore_view *view, U16 id)
{
    char path[512];
    U32 index = 0;
    while (index < view->node_count && view->nodes[index].key != id)
        index++;
    icecore_path(ctx->pooled.engine, view->input, view->input_len, index, path, sizeof path);
    croak("Icecore: malformed UTF-8 in a hash key at %s", path);
}

SV *
ice_key_sv(pTHX_ ice_context *ctx, const icecore_view *view, U16 id)
{
    ice_keys *keys = &ctx->keys;
    const icecore_name *name;
    const char *text;
    SV *sv;

    if ((sv = (SV *)ice_keys_get(keys, id)))
        return sv;
    if (!(name = ice_name(&view->keys, id, &text)))
        croak("Icecore: a key without a name");
    if (name->node.kind < ICECORE_BYTES || name->node.kind > ICECORE_SYMBOL) {
        /* An integer is the only other kind of key that has an id. */
        SV *number = newSViv((IV)name->node.payload);
        STRLEN len;
        text = SvPV(number, len);
        sv = newSVpvn_share(text, (I32)len, 0);
        SvREFCNT_dec(number);
    } else {
        I32 len = (I32)name->node.aux;
        if (name->node.kind == ICECORE_TEXT && !ice_is_utf8((const U8 *)text, len))
            croak_bad_key(aTHX_ ctx, view, id);
        /* perl stores text in Latin-1 if it can, with a flag that it was UTF-8. Only perl's own
         * functions can store such a key in a hash, so the SV has no shared key. */
        if (name->node.kind == ICECORE_TEXT && !is_wide((const U8 *)text, len))
            sv = newSVpvn_utf8(text, len, TRUE);
        else
            sv = newSVpvn_share(text, name->node.kind == ICECORE_TEXT ? -len : len, 0);
    }
    store_key(keys, id, sv, (name->node.flags & (ICECORE_FLAG_LOCKED | ICECORE_FLAG_PLACEHOLDER)) != 0);
    return sv;
}

/* Returns the id of a key that was UTF-8 and that perl stores in Latin-1. */
static U16
add_downgraded_key(pTHX_ ice_context *ctx, const HEK *hek, bool key_flags)
{
    STRLEN len = HEK_LEN(hek);
    U8 *text = bytes_to_utf8((const U8 *)HEK_KEY(hek), &len);
    U8 flags = key_flags && len == (STRLEN)HEK_LEN(hek) ? ICECORE_FLAG_WAS_TEXT : 0;
    U16 id = icecore_key(ctx->pooled.engine, ICECORE_TEXT, flags, text, len);
    Safefree(text);
    return id;
}

U16
ice_new_key_id(pTHX_ ice_context *ctx, HE *he, bool key_flags)
{
    ice_keys *keys = &ctx->keys;
    const HEK *hek = HeKEY_hek(he);
    SV *stored;
    U16 id;

    if (HEK_WASUTF8(hek))
        return add_downgraded_key(aTHX_ ctx, hek, key_flags);
    id = icecore_key(ctx->pooled.engine, HEK_UTF8(hek) ? ICECORE_TEXT : ICECORE_BYTES, 0, (const U8 *)HEK_KEY(hek),
                     (size_t)HEK_LEN(hek));
    if (id) {
        if (!ice_keys_get(keys, id))
            store_key(keys, id,
                      newSVpvn_share(HEK_KEY(hek), HEK_UTF8(hek) ? -HEK_LEN(hek) : HEK_LEN(hek), HEK_HASH(hek)),
                      FALSE);
        /* A key may be recognized by its address only as long as it is kept alive. */
        stored = (SV *)ice_keys_get(keys, id);
        if (SvIsCOW_shared_hash(stored) && SvSHARED_HEK_FROM_PV(SvPVX_const(stored)) == hek)
            ice_keys_remember_address(keys, hek, id);
    }
    return id;
}
