/* What the files of the build share.
 *
 *   build_leaf.c    strings, symbols, numbers, names of classes, keys
 *   build_flat.c    containers of leaves, at once
 *   build_close.c   what a container becomes when all that is in it is there
 *   build.c         the machine: a frame for each container that holds others
 *
 * With a proc or with freeze the machine takes every value itself, and does behind each
 * what Marshal does there. */
#ifndef ICE_BUILD_H
#define ICE_BUILD_H
#include "core/icecore_ruby.h"

typedef struct {
    ice_context *ctx;
    uint32_t call; /* of the context */
    const ice_read_settings *settings;
    VALUE (*build)(ice_context *ctx, const ice_read_settings *settings); /* ice_build, for what calls it again */
    bool is_slow; /* a proc or freeze */
    VALUE seen;   /* if it is slow: symbols, keys and names of encodings that were there already,
                   * and as what object; otherwise Qnil */
} ice_builder;

/* What a frame builds. */
enum {
    ICE_B_ARRAY,
    ICE_B_HASH,
    ICE_B_MEMBERS,   /* an object with variables */
    ICE_B_STRUCT,
    ICE_B_RANGE,
    ICE_B_PARTS,     /* a Rational or Complex of Ruby 1.8 */
    ICE_B_SET,
    ICE_B_DUMP,      /* _load */
    ICE_B_MARSHAL,   /* marshal_load */
    ICE_B_DATA,      /* _load_data */
    ICE_B_VARIABLES, /* a value and its variables */
    ICE_B_MODULE,    /* a value and a module in it */
    ICE_B_SUBCLASS,  /* a value of a class below a core class */
    ICE_B_REGEXP,
    ICE_B_RECORD,    /* what one of these is, if its class is not built */
    ICE_B_RECORD_OF  /* the same for a module or a class around a value */
};

/* build_leaf.c */
VALUE ice_leaf(ice_builder *b, uint32_t at);
static inline VALUE ice_key_value(ice_builder *b, uint16_t id);
VALUE ice_new_key_value(ice_builder *b, uint16_t id);
/* The encoding of a string; NULL: no Ruby has one of that name, which gets a place. */
rb_encoding *ice_encoding_of(ice_builder *b, const icecore_node *node, VALUE *name);
void ice_remember(ice_builder *b, uint32_t node, VALUE value);
VALUE ice_target(ice_builder *b, uint32_t node);
/* What Marshal does behind each value. */
VALUE ice_leave(ice_builder *b, VALUE value);
/* The part of it that a proc is. */
VALUE ice_call_proc(ice_builder *b, VALUE value);
/* Notes that a name was there, as this object; says whether it is the first time. */
bool ice_is_first(ice_builder *b, VALUE name, VALUE object);
/* What Marshal does behind a string that a link names again. */
VALUE ice_leave_again(ice_builder *b, VALUE string);
/* Calls the proc with what says the encoding of a string or symbol. */
void ice_leave_encoding(ice_builder *b, const icecore_node *node, const char *text, size_t len, VALUE string);

/* build_flat.c: the container at a node, all of whose children are leaves; false: it is
 * none that is built here. */
bool ice_flat(ice_builder *b, uint32_t at, VALUE *value);

/* build_close.c */
VALUE ice_close(ice_builder *b, ice_build_frame *frame);
void ice_set_members(ice_builder *b, ice_class *class, VALUE object, const VALUE *pairs, uint32_t count);
/* The members of a Set. */
void ice_set_of(ice_builder *b, VALUE set, const VALUE *pairs, uint32_t count);
/* The variables of a value that is no object. */
void ice_set_variables(VALUE object, const VALUE *pairs, uint32_t count);

/* A string in UTF-8: a new one has no encoding that would have to be replaced. */
static inline VALUE
ice_text(const char *text, size_t len)
{
    VALUE string = rb_str_new(text, len);
    RB_ENCODING_SET_INLINED(string, rb_utf8_encindex());
    return string;
}

static inline VALUE
ice_key_value(ice_builder *b, uint16_t id)
{
    void *held = ice_keys_held(&b->ctx->keys, id);
    return ICE_LIKELY(held && !b->is_slow) ? (VALUE)held : ice_new_key_value(b, id);
}

/* A leaf, of which the frequent ones need no call. */
static inline VALUE
ice_any_leaf(ice_builder *b, uint32_t at)
{
    const icecore_node *node = &b->ctx->view.nodes[at];
    if (!(node->flags & ICECORE_FLAG_TARGET)) {
        if (node->kind == ICECORE_INT)
            return LL2NUM((int64_t)node->payload);
        if (node->kind == ICECORE_TEXT) {
            size_t len;
            const char *text = ice_bytes_of(&b->ctx->view, node, &len);
            return ice_text(text, len);
        }
    }
    return ice_leaf(b, at);
}

static inline bool
ice_is_leaf(const icecore_node *node)
{
    return node->kind < ICECORE_ARRAY;
}

#endif
