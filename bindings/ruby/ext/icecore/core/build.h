/* Declarations that the files of the build share.
 *
 *   build_leaf.c   strings, symbols, numbers, names of classes, keys
 *   build_flat.c   containers of leaves, built at once
 *   build_close.c  turns a container into its value when its contents are complete
 *   build.c        the machine: a frame for each container that holds others
 *
 * Marshal freezes a value and passes it to the proc at a certain moment. "Finishing" a value means
 * these two steps. With a proc or with `freeze`, build.c builds every value itself, without
 * build_flat.c, so that it can finish each value at the same moment. */
#ifndef ICE_BUILD_H
#define ICE_BUILD_H
#include "core/icecore_ruby.h"

typedef struct {
    ice_context *ctx;
    uint32_t call; /* of the context */
    const ice_read_settings *settings;
    VALUE (*build)(ice_context *ctx, const ice_read_settings *settings); /* ice_build, for recursive calls */
    bool finishes_values; /* there is a proc, or `freeze`, so each value must be finished */
    VALUE known_names; /* if `finishes_values`, a Hash: symbols, keys and names of encodings that were met,
                        * with their objects; otherwise Qnil */
} ice_builder;

/* What a frame builds. */
enum {
    ICE_BUILD_ARRAY,
    ICE_BUILD_HASH,
    ICE_BUILD_OBJECT,        /* an object with instance variables */
    ICE_BUILD_STRUCT,
    ICE_BUILD_RANGE,
    ICE_BUILD_OLD_NUMBER,    /* a Rational or Complex as Ruby 1.8 wrote it */
    ICE_BUILD_SET,
    ICE_BUILD_CORE_SET,      /* a set that gets its items at the end: core_set.c */
    ICE_BUILD_LOAD,          /* the result of _load */
    ICE_BUILD_MARSHAL_LOAD,  /* an object that marshal_load fills */
    ICE_BUILD_LOAD_DATA,     /* an object that _load_data fills */
    ICE_BUILD_VARIABLES,     /* a value and its instance variables */
    ICE_BUILD_MODULE,        /* a value that is extended with a module */
    ICE_BUILD_SUBCLASS,      /* a value whose class is a subclass of a core class */
    ICE_BUILD_REGEXP,
    ICE_BUILD_RECORD,        /* a record instead of an object of one of these kinds */
    ICE_BUILD_WRAPPER_RECORD  /* a record in the place of ICE_BUILD_MODULE or ICE_BUILD_SUBCLASS */
};

/* ---- build_leaf.c ------------------------------------------------------------- */

/* Builds the leaf at a node. ice_build_leaf is quicker for frequent kinds. */
VALUE ice_build_rare_leaf(ice_builder *b, uint32_t index);
/* Returns the value of the key with this id. */
static inline VALUE ice_key_value(ice_builder *b, uint16_t id);
/* The part of ice_key_value for keys that are not cached. */
VALUE ice_create_key_value(ice_builder *b, uint16_t id);
/* Stores the value to which links to this node refer. */
void ice_set_link_target(ice_builder *b, uint32_t node, VALUE value);
/* Returns the value to which links to this node refer. */
VALUE ice_link_target(ice_builder *b, uint32_t node);
/* Freezes a value if `freeze` is set, and calls the proc. Returns the result of the proc. */
VALUE ice_finish_value(ice_builder *b, VALUE value);
/* Calls the proc if there is one, and returns its result. */
VALUE ice_call_proc(ice_builder *b, VALUE value);
/* Returns true if a name is met for the first time, and then registers it with its object. */
bool ice_is_first_use(ice_builder *b, VALUE name, VALUE object);
/* Finishes a string again at a link to it, as Marshal does. */
VALUE ice_finish_linked_string(ice_builder *b, VALUE string);
/* Finishes the value that declares the encoding of a string or symbol. */
void ice_finish_encoding(ice_builder *b, const icecore_node *node, const char *text, size_t len, VALUE string);

/* ---- build_flat.c ------------------------------------------------------------- */

/* Builds the container at a node if all of its children are leaves. Returns false if the
 * container can't be built here; then nothing is built. */
bool ice_build_flat(ice_builder *b, uint32_t index, VALUE *value);

/* ---- build_close.c ------------------------------------------------------------ */

/* Returns the value of a frame whose contents are complete. */
VALUE ice_close_frame(ice_builder *b, ice_build_frame *frame);
/* Sets instance variables of an object. `pairs` are names and values, alternating. */
void ice_set_members(ice_builder *b, ice_class *class, VALUE object, const VALUE *pairs, uint32_t count);
/* Sets instance variables of a Set. */
void ice_set_set_members(ice_builder *b, VALUE set, const VALUE *pairs, uint32_t count);
/* Sets instance variables of a value that is not a plain object. */
void ice_set_variables(VALUE object, const VALUE *pairs, uint32_t count);

/* Returns a new string that is in UTF-8 from the start. */
static inline VALUE
ice_new_utf8_string(const char *text, size_t len)
{
    VALUE string = rb_str_new(text, len);
    RB_ENCODING_SET_INLINED(string, rb_utf8_encindex());
    return string;
}

static inline VALUE
ice_key_value(ice_builder *b, uint16_t id)
{
    void *key = ice_keys_get(&b->ctx->keys, id);
    return ICE_LIKELY(key && !b->finishes_values) ? (VALUE)key : ice_create_key_value(b, id);
}

/* Builds the leaf at a node; frequent kinds are built inline. */
static inline VALUE
ice_build_leaf(ice_builder *b, uint32_t index)
{
    const icecore_node *node = &b->ctx->view.nodes[index];
    if (!(node->flags & ICECORE_FLAG_TARGET)) {
        if (node->kind == ICECORE_INT)
            return LL2NUM((int64_t)node->payload);
        if (node->kind == ICECORE_TEXT) {
            size_t len;
            const char *text = ice_bytes_of(&b->ctx->view, node, &len);
            return ice_new_utf8_string(text, len);
        }
    }
    return ice_build_rare_leaf(b, index);
}

/* Returns true if a node has no children. */
static inline bool
ice_is_leaf(const icecore_node *node)
{
    return node->kind < ICECORE_ARRAY;
}

#endif
