/* Declarations that the files of the walk share.
 *
 *   walk_leaf.c    leaves: numbers, symbols, strings; keys; links
 *   walk_class.c   the facts about classes of objects that are written
 *   walk_around.c  wrappers of a value: variables, modules, a subclass of a core class
 *   walk_rows.c    objects whose variables have known places
 *   walk_frames.h  frames; they are opened by walk_open.c, walk_hooks.c, walk_records.c
 *   walk.c         the machine
 */
#ifndef ICE_WALK_H
#define ICE_WALK_H
#include "core/icecore_ruby.h"

typedef struct {
    ice_context *ctx;
    icecore_context *engine;
    icecore_tape *tape;
    uint32_t call;    /* of the context */
    uint32_t nesting; /* number of hashes that are walked inside of Ruby's own loop */
    bool has_plain_strings; /* strings are known to have no hooks */
} ice_walker;

/* ---- walk_leaf.c --------------------------------------------------------------- */

/* Puts a value if it is a leaf without special features. */
static inline bool ice_put_leaf(ice_walker *w, VALUE value, uint16_t key);
bool ice_put_any_leaf(ice_walker *w, VALUE value, uint16_t key);
/* Puts a link if the object was met before. */
bool ice_put_again(ice_walker *w, VALUE object, uint16_t key);
/* Registers an object as the next node. */
void ice_note_seen(ice_walker *w, VALUE object);
void ice_put_string(ice_walker *w, VALUE string, uint16_t key, uint8_t flags);
void ice_put_symbol(ice_walker *w, VALUE symbol, uint16_t key);
void ice_put_big(ice_walker *w, VALUE number, uint16_t key);
/* Returns the id of the name of a variable or member; 0: a node was put for it, and the
 * value follows a key node. `may`: whether ids may be used at all. */
uint16_t ice_put_name(ice_walker *w, VALUE symbol, bool may);
/* Returns the id of a key of a hash, or ICECORE_KEY_NODE after putting a node. 0: keys
 * of this kind are not put here. */
uint16_t ice_put_key(ice_walker *w, VALUE key, bool may);
/* The engine's id of the encoding with Ruby's index. */
uint64_t ice_encoding_id(ice_walker *w, int index);

/* ---- walk_class.c ----------------------------------------------------------------- */

/* Returns the facts about a class whose objects are written. */
ice_written *ice_written_of(ice_walker *w, VALUE klass);
/* Returns the engine's id of its name; raises if it has none. */
uint32_t ice_written_id(ice_walker *w, ice_written *class);
/* Returns the path of a class or module; raises if the path does not lead to it. */
VALUE ice_path_of(VALUE module);
uint32_t ice_class_id(ice_walker *w, VALUE path);

/* ---- walk_rows.c ------------------------------------------------------------------- */

/* Returns the row of an object, if the places of all its variables are known; learns it
 * otherwise. `count` receives the number of its variables. */
ice_row *ice_row_of(ice_walker *w, ice_written *class, VALUE object, uint32_t *count);
/* Puts the variables of an object up to the first that is not a leaf; false: there is
 * one, at `at`. `done` is the number of those that were put. */
bool ice_put_row(ice_walker *w, VALUE object, ice_row *row, uint32_t *at, uint32_t *done);

/* ---- walk_around.c ------------------------------------------------------------------ */

/* Puts the modules that are mixed into a value, and its class if it is a subclass of
 * `core`; returns the number of nodes. The first one gets the key. */
uint32_t ice_put_around(ice_walker *w, VALUE object, ice_written *class, VALUE core, uint16_t *key);
/* Pushes the variables of a value to the stack of values, in pairs; returns their
 * number. */
uint32_t ice_variables_of(ice_walker *w, VALUE object);

/* Whether Ruby keeps a string once for all equal ones. Then all equal keys are this
 * object too. */
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
        if (kind == T_STRING && !(flags & (FL_EXIVAR | RSTRING_FSTR)) && RBASIC_CLASS(value) == rb_cString &&
            w->has_plain_strings && RB_ENCODING_GET_INLINED(value) == rb_utf8_encindex()) {
            const ice_seen_object *seen = ice_seen_find(&w->ctx->seen, value);
            if (ICE_UNLIKELY(seen != NULL))
                ice_push_again(w->engine, w->tape, ICECORE_LINK, 0, key, seen->node);
            else {
                ice_seen_add(&w->ctx->seen, value, (uint32_t)w->tape->node_count);
                ice_push_string(w->engine, w->tape, ICECORE_TEXT, 0, key, RSTRING_PTR(value), RSTRING_LEN(value));
            }
            return true;
        }
        if (kind == T_OBJECT || kind == T_ARRAY || kind == T_HASH)
            return false;
    }
    return ice_put_any_leaf(w, value, key);
}

static inline uint32_t
ice_put_node(ice_walker *w, uint8_t kind, uint8_t flags, uint16_t key, uint64_t payload)
{
    return ice_push(w->engine, w->tape, kind, flags, key, 0, payload);
}

#endif
