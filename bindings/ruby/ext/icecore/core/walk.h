/* Declarations that the files of the walk share.
 *
 *   walk_leaf.c     leaves: numbers, symbols, strings; keys; links
 *   walk_class.c    information about the classes of objects that are written
 *   walk_wrappers.c   wrappers of a value: variables, modules, a subclass of a core class
 *   walk_layouts.c  objects whose variables are at known indexes
 *   walk_frames.h   frames; walk_open.c, walk_hooks.c and walk_records.c open them
 *   walk.c          the machine
 *
 * Functions that put a value push its nodes to the tape. `key` is the id of the value's key,
 * or one of ICECORE_NO_KEY, ICECORE_IS_KEY and ICECORE_KEY_PRECEDES. */
#ifndef ICE_WALK_H
#define ICE_WALK_H
#include "core/icecore_ruby.h"

typedef struct {
    ice_context *ctx;
    icecore_context *engine;
    icecore_tape *tape;
    uint32_t call;          /* the context's call when the walk began */
    uint32_t nesting;       /* number of rb_hash_foreach loops that are running */
    bool has_plain_strings; /* class String is known to have no hooks */
} ice_walker;

/* ---- walk_leaf.c --------------------------------------------------------------- */

/* Puts a value if it is a leaf without special features. Returns false if it is not. */
static inline bool ice_put_leaf(ice_walker *w, VALUE value, uint16_t key);
/* The part of ice_put_leaf for less frequent kinds. */
bool ice_put_rare_leaf(ice_walker *w, VALUE value, uint16_t key);
/* If the object was met before, puts a link to it and returns true. */
bool ice_put_link_if_seen(ice_walker *w, VALUE object, uint16_t key);
/* Registers that the next node is the one of this object, so that links can refer to it. */
void ice_register_object(ice_walker *w, VALUE object);
void ice_put_string(ice_walker *w, VALUE string, uint16_t key, uint8_t flags);
void ice_put_symbol(ice_walker *w, VALUE symbol, uint16_t key);
void ice_put_big(ice_walker *w, VALUE number, uint16_t key);
/* Returns the id for the name of a variable or member. If it gets no id, puts a key node and
 * returns ICECORE_KEY_PRECEDES. Names get no ids unless `may_use_ids`. */
uint16_t ice_put_name(ice_walker *w, VALUE symbol, bool may_use_ids);
/* The same for a key of a hash. Returns 0, and puts nothing, if the key must be put like other
 * values. */
uint16_t ice_put_key(ice_walker *w, VALUE key, bool may_use_ids);

/* ---- encodings.c ------------------------------------------------------------------ */

/* Returns the engine's id of the encoding that has this index in Ruby, shifted to its place in
 * a node's payload. */
uint64_t ice_encoding_id(ice_walker *w, int index);

/* ---- walk_class.c ----------------------------------------------------------------- */

/* Returns the entry of a class whose objects are written. */
ice_written_class *ice_find_written_class(ice_walker *w, VALUE klass);
/* Returns the engine's id of the class's name; raises if the class is anonymous. */
uint32_t ice_written_class_id(ice_walker *w, ice_written_class *class);
/* Returns the path of a class or module; raises if the path does not lead to it. */
VALUE ice_class_path(VALUE module);
/* Returns the engine's id of a class with this path. */
uint32_t ice_class_id(ice_walker *w, VALUE path);

/* ---- walk_layouts.c ------------------------------------------------------------------- */

/* Returns the layout of an object's class. Learns it if necessary; returns NULL if that is not
 * possible. `count` receives the number of the object's variables. */
ice_ivar_layout *ice_find_ivar_layout(ice_walker *w, ice_written_class *class, VALUE object, uint32_t *count);
/* Puts the variables of an object. Stops at the first that is not a leaf, and then returns
 * false; `failed_ivar` receives its position in the layout. `put_count` is increased by the
 * number of variables that were put. */
bool ice_put_ivars_by_layout(ice_walker *w, VALUE object, ice_ivar_layout *layout, uint32_t *failed_ivar,
                             uint32_t *put_count);

/* ---- walk_wrappers.c ------------------------------------------------------------------ */

/* Puts wrappers for the modules that are mixed into a value, and for its class if that is a
 * subclass of `core`. Returns the number of wrappers. The first wrapper gets the key, and
 * `key` becomes ICECORE_NO_KEY. */
uint32_t ice_put_wrappers(ice_walker *w, VALUE object, ice_written_class *class, VALUE core, uint16_t *key);
/* Pushes the names and values of an object's variables to the stack of values; returns the
 * number of variables. */
uint32_t ice_push_variables(ice_walker *w, VALUE object);

/* True if Ruby has interned a string: then every equal key is the same object. */
#define ICE_IS_INTERNED(string) (RB_FL_ANY_RAW(string, RSTRING_FSTR))

static inline bool
ice_put_leaf(ice_walker *w, VALUE value, uint16_t key)
{
    if (RB_FIXNUM_P(value)) {
        ice_push(w->engine, w->tape, ICECORE_INT, 0, key, 0, (uint64_t)FIX2LONG(value));
        return true;
    }
    if (!RB_SPECIAL_CONST_P(value)) {
        const VALUE flags = RBASIC(value)->flags;
        const VALUE kind = flags & RUBY_T_MASK;
        if (kind == T_STRING && !(flags & (RUBY_FL_EXIVAR | RSTRING_FSTR)) && RBASIC_CLASS(value) == rb_cString &&
            (RUBY_FL_EXIVAR || !ICE_MAY_HAVE_VARIABLES(value)) &&
            w->has_plain_strings && RB_ENCODING_GET_INLINED(value) == rb_utf8_encindex()) {
            const ice_seen_object *seen = ice_seen_find(&w->ctx->seen, value);
            if (ICE_UNLIKELY(seen != NULL))
                ice_push_link(w->engine, w->tape, ICECORE_LINK, 0, key, seen->node);
            else {
                ice_seen_add(&w->ctx->seen, value, (uint32_t)w->tape->node_count);
                ice_push_string(w->engine, w->tape, ICECORE_TEXT, 0, key, RSTRING_PTR(value), RSTRING_LEN(value));
            }
            return true;
        }
        if (kind == T_OBJECT || kind == T_ARRAY || kind == T_HASH)
            return false;
    }
    return ice_put_rare_leaf(w, value, key);
}

/* Pushes a node with `aux` 0, and returns its index. */
static inline uint32_t
ice_put_node(ice_walker *w, uint8_t kind, uint8_t flags, uint16_t key, uint64_t payload)
{
    return ice_push(w->engine, w->tape, kind, flags, key, 0, payload);
}

#endif
