/* Builds leaves: strings, symbols, numbers, names of classes, keys and links. */
#include "core/build.h"

/* ---- links -------------------------------------------------------------------- */

/* Returns a key for an ice_map. A key must not be NULL, and the first node has the index 0, so 1 is
 * added. */
static const void *
map_key(uint32_t node)
{
    return (const void *)(uintptr_t)((uint64_t)node + 1);
}

void
ice_set_link_target(ice_builder *b, uint32_t node, VALUE value)
{
    ice_context *ctx = b->ctx;
    ice_slot *slot = ice_map_find(&ctx->target_indexes, map_key(node));
    if (slot) {
        ctx->targets[slot->value] = value;
        return;
    }
    if (ctx->target_count == ctx->target_capacity)
        ctx->targets = ice_stack_grow(ctx->targets, &ctx->target_capacity, sizeof *ctx->targets, 64);
    ice_map_add(&ctx->target_indexes, map_key(node), ctx->target_count);
    ctx->targets[ctx->target_count++] = value;
}

VALUE
ice_link_target(ice_builder *b, uint32_t node)
{
    const ice_slot *slot = ice_map_find(&b->ctx->target_indexes, map_key(node));
    if (!slot)
        ice_raise(ice_argument_error, "bad_link", "", "dump format error (unlinked)");
    return b->ctx->targets[slot->value];
}

/* ---- finishing values ---------------------------------------------- */

VALUE
ice_call_proc(ice_builder *b, VALUE value)
{
    if (NIL_P(b->settings->proc))
        return value;
    value = rb_funcallv(b->settings->proc, rb_intern("call"), 1, &value);
    ice_check_call(b->ctx, b->call);
    return value;
}

VALUE
ice_finish_value(ice_builder *b, VALUE value)
{
    if (b->settings->freeze && !RB_TYPE_P(value, T_MODULE) && !RB_TYPE_P(value, T_CLASS)) {
        if (RB_TYPE_P(value, T_STRING) && rb_obj_class(value) == rb_cString)
            value = rb_str_to_interned_str(value);
        else
            rb_obj_freeze_inline(value);
    }
    return ice_call_proc(b, value);
}

VALUE
ice_finish_linked_string(ice_builder *b, VALUE string)
{
    return ice_freezes_linked_strings ? ice_finish_value(b, string) : ice_call_proc(b, string);
}

bool
ice_is_first_use(ice_builder *b, VALUE name, VALUE object)
{
    if (!NIL_P(rb_hash_lookup(b->known_names, name)))
        return false;
    rb_hash_aset(b->known_names, name, object);
    return true;
}

/* ---- encodings ---------------------------------------------------------------------- */

/* Finishes the value of the variable E: true declares UTF-8, and false declares US-ASCII. If the
 * proc returns any other value, that value does not declare an encoding: the string becomes
 * binary and keeps the value as a variable. */
static void
call_proc_for_short_encoding(ice_builder *b, VALUE is_utf8, VALUE string)
{
    VALUE result;
    ice_is_first_use(b, ID2SYM(rb_intern("E")), Qtrue);
    result = ice_finish_value(b, is_utf8);
    if (result == is_utf8 || !RB_TYPE_P(string, T_STRING))
        return;
    if (result == Qtrue || result == Qfalse)
        rb_enc_associate(string, result == Qtrue ? rb_utf8_encoding() : rb_usascii_encoding());
    else {
        rb_enc_associate(string, rb_ascii8bit_encoding());
        rb_ivar_set(string, rb_intern("E"), result);
    }
}

void
ice_finish_encoding(ice_builder *b, const icecore_node *node, const char *text, size_t len, VALUE string)
{
    VALUE name = Qnil;
    const bool is_named = ICE_ENCODING_OF(node) && node->kind != ICECORE_TEXT;
    size_t i;
    if (is_named) {
        rb_encoding *encoding = ice_encoding_of(&b->ctx->view, node, &name);
        if (encoding == rb_usascii_encoding())
            call_proc_for_short_encoding(b, Qfalse, string);
        else if (!NIL_P(name)) {
            VALUE key = rb_ary_new_from_args(2, name, Qnil);
            ice_is_first_use(b, ID2SYM(rb_intern("encoding")), Qtrue);
            name = ice_is_first_use(b, key, name)
                       ? ice_finish_value(b, name)
                       : ice_finish_linked_string(b, rb_hash_lookup(b->known_names, key));
            if (!RB_TYPE_P(name, T_STRING))
                ice_raise(ice_type_error, "other", "", "no implicit conversion of %" PRIsVALUE " into String",
                          RB_SPECIAL_CONST_P(name) && !SYMBOL_P(name) && !FIXNUM_P(name) ? rb_inspect(name)
                                                                                           : rb_obj_class(name));
        }
        return;
    }
    /* Marshal declares UTF-8 for each string, but for a symbol only if it is not ASCII. */
    if (node->kind == ICECORE_SYMBOL) {
        for (i = 0; i < len && (unsigned char)text[i] < 0x80; i++)
            ;
        if (i == len)
            return;
    } else if (node->kind != ICECORE_TEXT)
        return;
    call_proc_for_short_encoding(b, Qtrue, string);
}

/* ---- strings and symbols -------------------------------------------------------------- */

/* Builds a string. If Ruby does not have its encoding, the name becomes a variable. */
static VALUE
build_string(ice_builder *b, const icecore_node *node)
{
    size_t len;
    const char *text = ice_bytes_of(&b->ctx->view, node, &len);
    VALUE string, name = Qnil;
    rb_encoding *encoding;
    if (ICE_LIKELY(node->kind == ICECORE_TEXT))
        return ice_new_utf8_string(text, len);
    string = rb_str_new(text, len);
    if (node->kind == ICECORE_ENCODED) {
        encoding = ice_encoding_of(&b->ctx->view, node, &name);
        if (encoding)
            rb_enc_associate(string, encoding);
        else
            rb_ivar_set(string, rb_intern("encoding"), name);
    }
    return string;
}

/* Returns the symbol with this text. Raises if the text is not valid in its encoding. */
static VALUE
build_symbol(ice_builder *b, const icecore_node *node, const char *text, size_t len)
{
    VALUE name = Qnil, symbol, string;
    rb_encoding *encoding = ICE_ENCODING_OF(node) ? ice_encoding_of(&b->ctx->view, node, &name) : rb_utf8_encoding();
    if (!encoding)
        encoding = rb_ascii8bit_encoding();
    symbol = rb_check_symbol_cstr(text, len, encoding);
    if (!NIL_P(symbol))
        return symbol;
    string = rb_enc_str_new(text, len, encoding);
    if (rb_enc_str_coderange(string) == ENC_CODERANGE_BROKEN)
        ice_raise(ice_argument_error, "malformed", "", "invalid byte sequence in %s: %+" PRIsVALUE,
                  rb_enc_name(encoding), string);
    /* Unlike rb_intern, this creates a symbol that the collector can free. */
    return rb_str_intern(string);
}

/* ---- keys --------------------------------------------------------------------------------- */

/* Builds the value of a key from its name in the document. */
static VALUE
build_key(ice_builder *b, uint16_t id)
{
    const char *text;
    const icecore_name *name = ice_name(&b->ctx->view.keys, id, &text);
    VALUE unknown = Qnil;
    if (!name)
        ice_host_fail("a key that is not there");
    switch (name->node.kind) {
    case ICECORE_SYMBOL:
        return build_symbol(b, &name->node, text, name->node.aux);
    case ICECORE_INT:
        return LL2NUM((int64_t)name->node.payload);
    case ICECORE_TEXT:
        return b->finishes_values ? rb_utf8_str_new(text, name->node.aux)
                                  : rb_enc_interned_str(text, name->node.aux, rb_utf8_encoding());
    case ICECORE_ENCODED: {
        rb_encoding *encoding = ice_encoding_of(&b->ctx->view, &name->node, &unknown);
        VALUE string = rb_enc_str_new(text, name->node.aux, encoding ? encoding : rb_ascii8bit_encoding());
        if (!encoding)
            rb_ivar_set(string, rb_intern("encoding"), unknown);
        return string;
    }
    default:
        return b->finishes_values ? rb_str_new(text, name->node.aux)
                                  : rb_enc_interned_str(text, name->node.aux, rb_ascii8bit_encoding());
    }
}

VALUE
ice_create_key_value(ice_builder *b, uint16_t id)
{
    VALUE key = build_key(b, id);
    /* A string that can be changed must not be shared by several hashes. If values are finished, only
     * symbols are stored, because a proc may get and change each string. */
    if (!b->finishes_values && !RB_SPECIAL_CONST_P(key) && RB_TYPE_P(key, T_STRING) && !OBJ_FROZEN(key))
        return key;
    if (!b->finishes_values || SYMBOL_P(key))
        ice_keys_store(&b->ctx->keys, id, (void *)key);
    return key;
}

/* ---- leaves --------------------------------------------------------------------------------- */

/* Returns the class or module that a node names, or its record. */
static VALUE
build_module(ice_builder *b, const icecore_node *node, uint32_t index)
{
    size_t len;
    const char *name = ice_bytes_of(&b->ctx->view, node, &len);
    const uint8_t form = ICE_FORM_OF(node);
    VALUE found;
    if (ice_policy_is_record(&b->settings->rules, name, len))
        return ice_record_new(form == ICECORE_FORM_MODULE       ? "module"
                              : form == ICECORE_FORM_OLD_MODULE ? "old_module"
                                                                : "class",
                              rb_utf8_str_new(name, len), Qnil);
    /* The name has no encoding on the tape. */
    found = rb_utf8_str_new(name, len);
    found = ice_look_up_renamed_class(&b->settings->rules, name, len,
                                      rb_enc_str_coderange(found) == ENC_CODERANGE_BROKEN ? rb_ascii8bit_encoding()
                                                                                          : rb_utf8_encoding());
    if (form == ICECORE_FORM_MODULE && !RB_TYPE_P(found, T_MODULE))
        ice_raise(ice_argument_error, "value", "", "%" PRIsVALUE " does not refer to module", found);
    if (form == ICECORE_FORM_USUAL && !RB_TYPE_P(found, T_CLASS))
        ice_raise(ice_argument_error, "value", "", "%" PRIsVALUE " does not refer to class", found);
    return found;
}

/* Builds an integer beyond 64 bits. */
static VALUE
build_big_integer(const icecore_view *view, const icecore_node *node)
{
    size_t len;
    const char *bytes = ice_bytes_of(view, node, &len);
    const int sign = node->flags & ICECORE_FLAG_NEGATIVE ? INTEGER_PACK_NEGATIVE : 0;
    return rb_integer_unpack(bytes, len, 1, 0, INTEGER_PACK_LITTLE_ENDIAN | sign);
}

VALUE
ice_build_rare_leaf(ice_builder *b, uint32_t index)
{
    const icecore_node *node = &b->ctx->view.nodes[index];
    VALUE value;
    union { uint64_t bits; double number; } floating;
    union { uint32_t bits; float number; } narrow;
    switch (node->kind) {
    case ICECORE_NULL:
    case ICECORE_HOLE:
        return Qnil;
    case ICECORE_BOOL:
        return node->payload ? Qtrue : Qfalse;
    case ICECORE_INT:
        value = LL2NUM((int64_t)node->payload);
        break;
    case ICECORE_UINT:
        value = ULL2NUM(node->payload);
        break;
    case ICECORE_BIGINT:
        value = build_big_integer(&b->ctx->view, node);
        break;
    case ICECORE_FLOAT:
        floating.bits = node->payload;
        value = DBL2NUM(floating.number);
        break;
    case ICECORE_FLOAT32:
        narrow.bits = (uint32_t)node->payload;
        value = DBL2NUM(narrow.number);
        break;
    case ICECORE_BYTES:
    case ICECORE_TEXT:
    case ICECORE_ENCODED:
        value = build_string(b, node);
        break;
    case ICECORE_SYMBOL: {
        size_t len;
        const char *text = ice_bytes_of(&b->ctx->view, node, &len);
        value = build_symbol(b, node, text, len);
        break;
    }
    case ICECORE_MODULE:
        value = build_module(b, node, index);
        break;
    case ICECORE_LINK:
    case ICECORE_ALIAS:
    case ICECORE_COPY:
        return ice_link_target(b, (uint32_t)node->payload);
    default:
        ice_host_fail("a value that Ruby has nothing for");
    }
    if (ICE_UNLIKELY(node->flags & ICECORE_FLAG_TARGET))
        ice_set_link_target(b, index, value);
    return value;
}
