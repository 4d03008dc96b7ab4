/* Leaves, keys and links. */
#include "core/walk.h"

/* ---- links --------------------------------------------------------------------------- */

bool
ice_put_link_if_seen(ice_walker *w, VALUE object, uint16_t key)
{
    const ice_seen_object *seen = ice_seen_find(&w->ctx->seen, object);
    if (ICE_LIKELY(!seen))
        return false;
    ice_push_link(w->engine, w->tape, ICECORE_LINK, 0, key, seen->node);
    return true;
}

void
ice_register_object(ice_walker *w, VALUE object)
{
    ice_seen_add(&w->ctx->seen, object, (uint32_t)w->tape->node_count);
}

/* ---- strings and symbols ----------------------------------------------------------------- */

void
ice_put_string(ice_walker *w, VALUE string, uint16_t key, uint8_t flags)
{
    const int index = ENCODING_GET(string);
    const size_t len = RSTRING_LEN(string);
    uint8_t kind = ICECORE_ENCODED;
    uint64_t encoding = 0;
    if (ICE_LIKELY(index == rb_utf8_encindex()))
        kind = ICECORE_TEXT;
    else if (index == rb_ascii8bit_encindex())
        kind = ICECORE_BYTES;
    else
        encoding = ice_encoding_id(w, index);
    ice_push_string(w->engine, w->tape, kind, flags, key, RSTRING_PTR(string), len);
    if (ICE_UNLIKELY(encoding))
        w->tape->nodes[w->tape->node_count - 1].payload |= encoding;
}

/* Returns the bits of a node that contain the encoding of a symbol. */
static uint64_t
symbol_encoding(ice_walker *w, VALUE text)
{
    const int index = ENCODING_GET(text);
    if (index == rb_utf8_encindex() || index == rb_usascii_encindex())
        return 0;
    return ice_encoding_id(w, index);
}

void
ice_put_symbol(ice_walker *w, VALUE symbol, uint16_t key)
{
    VALUE text = rb_sym2str(symbol);
    ice_push_string(w->engine, w->tape, ICECORE_SYMBOL, 0, key, RSTRING_PTR(text), RSTRING_LEN(text));
    w->tape->nodes[w->tape->node_count - 1].payload |= symbol_encoding(w, text);
}

/* ---- numbers --------------------------------------------------------------------------------- */

void
ice_put_big(ice_walker *w, VALUE number, uint16_t key)
{
    const size_t len = rb_absint_size(number, NULL);
    const uint8_t flags = RBIGNUM_NEGATIVE_P(number) ? ICECORE_FLAG_NEGATIVE : 0;
    icecore_tape *tape = w->tape;
    uint64_t offset;
    if (tape->arena_capacity - tape->arena_len < len + ICE_SLACK)
        ice_reserve_bytes(w->engine, tape, len + ICE_SLACK);
    offset = tape->arena_len;
    rb_integer_pack(number, tape->arena + offset, len, 1, 0, INTEGER_PACK_LITTLE_ENDIAN);
    tape->arena_len += len;
    ice_push(w->engine, tape, ICECORE_BIGINT, flags, key, (uint32_t)len, offset | ICECORE_IN_ARENA);
}

/* Returns the bits of a float. */
static uint64_t
bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* ---- leaves ------------------------------------------------------------------------------------- */

bool
ice_put_rare_leaf(ice_walker *w, VALUE value, uint16_t key)
{
    if (RB_SPECIAL_CONST_P(value)) {
        if (RB_FIXNUM_P(value))
            ice_put_node(w, ICECORE_INT, 0, key, (uint64_t)FIX2LONG(value));
        else if (RB_STATIC_SYM_P(value))
            ice_put_symbol(w, value, key);
        else if (RB_FLONUM_P(value))
            ice_put_node(w, ICECORE_FLOAT, 0, key, bits_of(RFLOAT_VALUE(value)));
        else
            ice_put_node(w, NIL_P(value) ? ICECORE_NULL : ICECORE_BOOL, 0, key, value == Qtrue);
        return true;
    }
    switch (RB_BUILTIN_TYPE(value)) {
    case T_SYMBOL:
        ice_put_symbol(w, value, key);
        return true;
    case T_STRING:
        if (RBASIC_CLASS(value) != rb_cString || ICE_MAY_HAVE_VARIABLES(value) ||
            !ice_find_written_class(w, rb_cString)->is_plain)
            return false;
        w->has_plain_strings = true;
        /* The flag says that Ruby interned the string. Equal interned strings are one object, so
         * the writer finds their links itself, without an entry in `seen`. */
        if (ICE_IS_INTERNED(value)) {
            ice_put_string(w, value, key, ICECORE_FLAG_HINT);
            return true;
        }
        if (ice_put_link_if_seen(w, value, key))
            return true;
        ice_register_object(w, value);
        ice_put_string(w, value, key, 0);
        return true;
    case T_FLOAT:
        if (!ice_find_written_class(w, rb_cFloat)->is_plain || ICE_MAY_HAVE_VARIABLES(value))
            return false;
        if (ice_put_link_if_seen(w, value, key))
            return true;
        ice_register_object(w, value);
        ice_put_node(w, ICECORE_FLOAT, 0, key, bits_of(RFLOAT_VALUE(value)));
        return true;
    case T_BIGNUM:
        if (!ice_find_written_class(w, rb_cInteger)->is_plain || ICE_MAY_HAVE_VARIABLES(value))
            return false;
        if (ice_put_link_if_seen(w, value, key))
            return true;
        ice_register_object(w, value);
        ice_put_big(w, value, key);
        return true;
    default:
        return false;
    }
}

/* ---- keys ------------------------------------------------------------------------------------------ */

/* Returns the engine's id for a key, and caches it. Returns 0 if the engine has no more ids. The
 * address is remembered only if the table has this very object, because the collector marks the
 * table's objects, and an address must not be reused while it is remembered. */
static uint16_t
create_key(ice_walker *w, VALUE key, uint8_t kind, VALUE text)
{
    ice_context *ctx = w->ctx;
    const uint16_t id =
        icecore_key(w->engine, kind, 0, (const uint8_t *)RSTRING_PTR(text), RSTRING_LEN(text));
    if (id) {
        if (!ice_keys_get(&ctx->keys, id))
            ice_keys_store(&ctx->keys, id, (void *)key);
        if (ice_keys_get(&ctx->keys, id) == (void *)key)
            ice_keys_remember_address(&ctx->keys, (void *)key, id);
    }
    return id;
}

uint16_t
ice_put_name(ice_walker *w, VALUE symbol, bool may_use_ids)
{
    uint16_t id;
    VALUE text;
    if (may_use_ids && ice_keys_find_by_address(&w->ctx->keys, (void *)symbol, &id))
        return id;
    text = rb_sym2str(symbol);
    if (may_use_ids && !symbol_encoding(w, text)) {
        id = create_key(w, symbol, ICECORE_SYMBOL, text);
        if (id)
            return id;
    }
    ice_put_symbol(w, symbol, ICECORE_IS_KEY);
    return ICECORE_KEY_PRECEDES;
}

uint16_t
ice_put_key(ice_walker *w, VALUE key, bool may_use_ids)
{
    uint16_t id;
    int index;
    if (SYMBOL_P(key))
        return ice_put_name(w, key, may_use_ids);
    if (RB_SPECIAL_CONST_P(key)) {
        ice_put_leaf(w, key, ICECORE_IS_KEY);
        return ICECORE_KEY_PRECEDES;
    }
    if (!RB_TYPE_P(key, T_STRING) || !ICE_IS_INTERNED(key) ||
        (!w->has_plain_strings && !ice_find_written_class(w, rb_cString)->is_plain))
        return 0;
    if (may_use_ids && ice_keys_find_by_address(&w->ctx->keys, (void *)key, &id))
        return id;
    index = ENCODING_GET(key);
    if (may_use_ids && (index == rb_utf8_encindex() || index == rb_ascii8bit_encindex())) {
        id = create_key(w, key, index == rb_utf8_encindex() ? ICECORE_TEXT : ICECORE_BYTES, key);
        if (id)
            return id;
    }
    ice_put_string(w, key, ICECORE_IS_KEY, 0);
    return ICECORE_KEY_PRECEDES;
}
