/* Frames of the walk, and the functions that open them without looking at the contents.
 *
 *   walk_open.c     structs, ranges, regexps, names of classes; names with values
 *   walk_hooks.c    the results of an object's dump methods
 *   walk_records.c  records
 */
#ifndef ICE_WALK_FRAMES_H
#define ICE_WALK_FRAMES_H
#include "core/walk.h"

enum {
    W_ARRAY,
    W_HASH,      /* keys and values on the stack of values */
    W_ROW,       /* an object whose variables have known places */
    W_NAMED,     /* names and values on the stack of values */
    W_PLAIN,     /* the same, for an object whose variables they are */
    W_STRUCT,
    W_ONE,       /* the result of a hook */
    W_DUMP,      /* the string that _dump returned */
    W_VARIABLES, /* the variables of the value before */
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
/* Pushes a key and its value to the stack of values. */
int ice_collect_entry(VALUE key, VALUE value, VALUE walker);
/* Opens an object whose names and values are on the stack of values from `base` on. */
ice_walk_frame *ice_open_named(ice_walker *w, VALUE object, uint32_t class, uint8_t form, uint16_t key, long limit,
                               uint32_t wraps, uint32_t base);
void ice_open_range(ice_walker *w, VALUE range, ice_written *class, uint16_t key, long limit, uint32_t wraps);
void ice_open_struct(ice_walker *w, VALUE object, ice_written *class, uint16_t key, long limit, uint32_t wraps);
void ice_put_regexp(ice_walker *w, VALUE regexp, uint16_t key, uint32_t wraps);
void ice_put_module(ice_walker *w, VALUE module, uint16_t key);

/* Called if hooks ran: the number of variables must still be the announced one. */
void ice_check_count(VALUE object, uint32_t count);
NORETURN(void ice_variables_changed(VALUE object, bool is_more));

/* ---- walk_hooks.c --------------------------------------------------------------- */

extern ID ice_id_marshal_dump, ice_id_dump, ice_id_dump_data;
void ice_walk_hooks_init(void);
/* Whether an object has a method; `has` is the answer of its class, if that is enough. */
bool ice_has_hook(const ice_written *class, VALUE object, bool has, ID method);
VALUE ice_call_hook(ice_walker *w, VALUE object, ID method, int argc, const VALUE *argv);
/* Opens an object that is replaced by the result of a hook. */
void ice_open_one(ice_walker *w, VALUE object, ice_written *class, uint8_t form, uint16_t key, long limit, uint32_t wraps,
                  VALUE result);
void ice_open_marshal_dump(ice_walker *w, VALUE object, ice_written *class, uint16_t key, long limit);
void ice_open_dump(ice_walker *w, VALUE object, ice_written *class, uint16_t key, long limit);

/* ---- walk_records.c ------------------------------------------------------------- */

/* Writes the value of which this is a record. */
void ice_open_record(ice_walker *w, VALUE record, uint16_t key, long limit);

#endif
