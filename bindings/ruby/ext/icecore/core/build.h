/* Declarations that the files of the build share.
 *
 *   build_leaf.c   strings, symbols, numbers, names of classes, keys
 *   build_flat.c   containers of leaves, built at once
 *   build_close.c  turns a container into its value when its contents are complete
 *   build.c        the machine: a frame for each container that holds others
 *
 * With a proc or with `freeze` the machine handles every value itself, and does after
 * each what Marshal does. */
#ifndef ICE_BUILD_H
#define ICE_BUILD_H
#include "core/icecore_ruby.h"

typedef struct {
    ice_context *ctx;
    uint32_t call; /* of the context */
    const ice_read_settings *settings;
    VALUE (*build)(ice_context *ctx, const ice_read_settings *settings); /* ice_build, for recursive calls */
    bool is_slow; /* a proc or freeze */
    VALUE seen;   /* if is_slow: symbols, keys and names of encodings that were met, and the
                   * objects that they became; otherwise Qnil */
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
    ICE_B_MODULE,    /* a value extended with a module */
    ICE_B_SUBCLASS,  /* a value of a subclass of a core class */
    ICE_B_REGEXP,
    ICE_B_RECORD,    /* one of the above whose class is not built */
    ICE_B_RECORD_OF  /* the same for a module or a class around a value */
};

/* build_leaf.c */
VALUE ice_leaf(ice_builder *b, uint32_t at);
static inline VALUE ice_key_value(ice_builder *b, uint16_t id);
VALUE ice_new_key_value(ice_builder *b, uint16_t id);
/* Returns the encoding of a string; NULL: Ruby has none of that name, and `name`
 * receives it. */
rb_encoding *ice_encoding_of(ice_builder *b, const icecore_node *node, VALUE *name);
void ice_remember(ice_builder *b, uint32_t node, VALUE value);
VALUE ice_target(ice_builder *b, uint32_t node);
/* Does what Marshal does after each value. */
VALUE ice_leave(ice_builder *b, VALUE value);
/* The part of ice_leave that calls the proc. */
VALUE ice_call_proc(ice_builder *b, VALUE value);
/* Registers a name that was met, with its object; returns whether it is the first time. */
bool ice_is_first(ice_builder *b, VALUE name, VALUE object);
/* Does what Marshal does after a string to which a link refers. */
VALUE ice_leave_again(ice_builder *b, VALUE string);
/* Calls the proc with the value that declares the encoding of a string or symbol. */
void ice_leave_encoding(ice_builder *b, const icecore_node *node, const char *text, size_t len, VALUE string);

/* build_flat.c: builds the container at a node, if all of its children are leaves;
 * false: it can't be built here. */
bool ice_flat(ice_builder *b, uint32_t at, VALUE *value);

/* build_close.c */
VALUE ice_close(ice_builder *b, ice_build_frame *frame);
void ice_set_members(ice_builder *b, ice_class *class, VALUE object, const VALUE *pairs, uint32_t count);
/* Sets the members of a Set. */
void ice_set_of(ice_builder *b, VALUE set, const VALUE *pairs, uint32_t count);
/* Sets the variables of a value that is not an object. */
void ice_set_variables(VALUE object, const VALUE *pairs, uint32_t count);

/* Returns a new string in UTF-8, which never has another encoding first. */
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

/* Returns a leaf; the frequent kinds need no call. */
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
