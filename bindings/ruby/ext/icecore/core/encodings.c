/* Encodings: those that a document names, and their ids in a document that is written. */
#include "core/walk.h"

/* The names of all encodings that Ruby has, in capitals, as keys of a Hash. Other names are
 * not looked up, because data must not make Ruby search for a library. */
static VALUE known_encoding_names;

/* Returns `known_encoding_names`, which the first call creates. */
static VALUE
encoding_names(void)
{
    if (!known_encoding_names) {
        VALUE names = rb_funcall(rb_cEncoding, rb_intern("name_list"), 0), known = rb_hash_new();
        long i;
        for (i = 0; i < RARRAY_LEN(names); i++)
            rb_hash_aset(known, rb_funcall(RARRAY_AREF(names, i), rb_intern("upcase"), 0), Qtrue);
        known_encoding_names = known;
        rb_gc_register_mark_object(known);
    }
    return known_encoding_names;
}

/* Returns true if a text equals a string that ends with NUL. */
static bool
equals(const char *text, size_t len, const char *other)
{
    return strlen(other) == len && memcmp(text, other, len) == 0;
}

rb_encoding *
ice_encoding_of(const icecore_view *view, const icecore_node *node, VALUE *name)
{
    const uint32_t id = ICE_ENCODING_OF(node);
    const char *text;
    const icecore_name *found = id ? ice_name(&view->encodings, id, &text) : NULL;
    size_t len;
    VALUE upper;
    int index;
    if (!found)
        return rb_ascii8bit_encoding();
    len = found->node.aux;
    if (equals(text, len, "US-ASCII"))
        return rb_usascii_encoding();
    if (equals(text, len, "ASCII-8BIT"))
        return rb_ascii8bit_encoding();
    *name = rb_str_new(text, len);
    if (memchr(text, 0, len))
        ice_raise(ice_argument_error, "malformed", "", "string contains null byte");
    upper = rb_funcall(*name, rb_intern("upcase"), 0);
    rb_enc_associate(upper, rb_usascii_encoding());
    if (!RTEST(rb_hash_lookup(encoding_names(), upper)))
        return NULL;
    index = rb_enc_find_index(StringValueCStr(*name));
    return index < 0 ? NULL : rb_enc_from_index(index);
}

rb_encoding *
ice_class_name_encoding(const icecore_view *view, const icecore_node *name)
{
    VALUE unknown = Qnil;
    rb_encoding *encoding;
    if (name->kind == ICECORE_TEXT)
        return rb_utf8_encoding();
    encoding = name->kind == ICECORE_ENCODED ? ice_encoding_of(view, name, &unknown) : NULL;
    return encoding ? encoding : rb_ascii8bit_encoding();
}

uint64_t
ice_encoding_id(ice_walker *w, int index)
{
    const char *name = rb_enc_name(rb_enc_from_index(index));
    return (uint64_t)icecore_encoding(w->engine, (const uint8_t *)name, strlen(name)) << 48;
}
