/* Frames of the walk, and what opens them without a look at what is inside.
 *
 *   walk_open.c     structs, ranges, regexps, names of classes; names with values
 *   walk_hooks.c    what the methods of an object return in its place
 *   walk_records.c  what a record stands for
 */
#ifndef ICE_WALK_FRAMES_H
#define ICE_WALK_FRAMES_H
#include "core/walk.h"

enum {
    W_ARRAY,
    W_HASH,      /* keys and values on the stack of values */
    W_ROW,       /* an object whose variables have known places */
    W_NAMED,     /* names and values on the stack of values */
    W_PLAIN,     /* the same, of an object that has these variables */
    W_STRUCT,
    W_ONE,       /* what a hook returned */
    W_DUMP,      /* the string that _dump returned */
    W_VARIABLES, /* of the value that was put before */
    W_AROUND     /* a record around a value */
};

static inline ice_walk_frame *
ice_open_frame(ice_walker *w, uint8_t kind, VALUE object, uint32_t node, uint32_t count, long limit)
{
    ice_context *ctx = w->ctx;
    ice_walk_frame *frame;
    if (ICE_UNLIKELY(ctx->walk_depth == ctx->walk_room))
        ctx->walking = ice_stack_grow(ctx->walking, &ctx->walk_room, sizeof *ctx->walking, 64);
    frame = &ctx->walking[ctx->walk_depth];
    *frame = (ice_walk_frame){ .kind = kind, .node = node, .count = count, .base = ctx->value_count,
                               .limit = limit, .object = object };
    ctx->walk_depth++;
    return frame;
}

static inline ice_walk_frame *
ice_top_frame(ice_context *ctx)
{
    return &ctx->walking[ctx->walk_depth - 1];
}

static inline uint32_t
ice_put_object(ice_walker *w, uint32_t class, uint8_t form, uint16_t key)
{
    ice_put_node(w, ICECORE_OBJECT, 0, key, ICE_CLASS(class) | ICE_FORM(form));
    return ice_put_node(w, ICECORE_MAP, 0, ICECORE_NO_KEY, 0);
}

/* ---- walk_open.c --------------------------------------------------------------- */

NORETURN(void ice_too_deep(void));
/* Puts a key and its value to the stack of values. */
int ice_collect_entry(VALUE key, VALUE value, VALUE walker);
/* An object with names and values that stand on the stack of values from `base` on. */
ice_walk_frame *ice_open_named(ice_walker *w, VALUE object, uint32_t class, uint8_t form, uint16_t key, long limit,
                               uint32_t wraps, uint32_t base);
void ice_open_range(ice_walker *w, VALUE range, ice_written *class, uint16_t key, long limit, uint32_t wraps);
void ice_open_struct(ice_walker *w, VALUE object, ice_written *class, uint16_t key, long limit, uint32_t wraps);
void ice_put_regexp(ice_walker *w, VALUE regexp, uint16_t key, uint32_t wraps);
void ice_put_module(ice_walker *w, VALUE module, uint16_t key);

/* Hooks ran: the variables must still be as many as were announced. */
void ice_check_count(VALUE object, uint32_t count);
NORETURN(void ice_variables_changed(VALUE object, bool is_more));

/* ---- walk_hooks.c --------------------------------------------------------------- */

extern ID ice_id_marshal_dump, ice_id_dump, ice_id_dump_data;
void ice_walk_hooks_init(void);
/* Whether an object has a method; `has` is what its class says, if that is enough. */
bool ice_has_hook(const ice_written *class, VALUE object, bool has, ID method);
VALUE ice_call_hook(ice_walker *w, VALUE object, ID method, int argc, const VALUE *argv);
/* An object in whose place stands what a hook returned. */
void ice_open_one(ice_walker *w, VALUE object, ice_written *class, uint8_t form, uint16_t key, long limit, uint32_t wraps,
                  VALUE result);
void ice_open_marshal_dump(ice_walker *w, VALUE object, ice_written *class, uint16_t key, long limit);
void ice_open_dump(ice_walker *w, VALUE object, ice_written *class, uint16_t key, long limit);

/* ---- walk_records.c ------------------------------------------------------------- */

/* Writes what a record stands for. */
void ice_open_record(ice_walker *w, VALUE record, uint16_t key, long limit);

#endif
