/* Frames of the walk, and the functions that open a frame before its contents are walked.
 *
 *   walk_open.c     structs, ranges, regexps, names of classes; names with values
 *   walk_hooks.c    the results of an object's dump methods
 *   walk_records.c  records
 */
#ifndef ICE_WALK_FRAMES_H
#define ICE_WALK_FRAMES_H
#include "core/walk.h"

/* Kinds of frames. */
enum {
    ICE_WALK_ARRAY,
    ICE_WALK_HASH,          /* its keys and values are on the stack of values */
    ICE_WALK_LAYOUT,        /* an object whose variables are at known indexes */
    ICE_WALK_MEMBERS,       /* names and values are on the stack of values */
    ICE_WALK_OBJECT,        /* like ICE_WALK_MEMBERS, for an object's own variables */
    ICE_WALK_STRUCT,
    ICE_WALK_HOOK_RESULT,   /* the result of marshal_dump or _dump_data */
    ICE_WALK_DUMP,          /* the string that _dump returned */
    ICE_WALK_VARIABLES,     /* the variables of a value, after the value */
    ICE_WALK_WRAPPER_RECORD /* a record of a module or a subclass: the value in it */
};

/* Pushes a frame whose contents begin at the top of the stack of values. `node` is the open
 * node. */
static inline ice_walk_frame *
ice_open_frame(ice_walker *w, uint8_t kind, VALUE object, uint32_t node, uint32_t count, long limit)
{
    ice_context *ctx = w->ctx;
    ice_walk_frame *frame;
    if (ICE_UNLIKELY(ctx->walk_depth == ctx->walk_capacity))
        ctx->walk_frames = ice_stack_grow(ctx->walk_frames, &ctx->walk_capacity, sizeof *ctx->walk_frames, 64);
    frame = &ctx->walk_frames[ctx->walk_depth];
    *frame = (ice_walk_frame){ .kind = kind, .node = node, .count = count, .base = ctx->value_count,
                               .limit = limit, .object = object };
    ctx->walk_depth++;
    return frame;
}

/* Returns the frame that was opened last. */
static inline ice_walk_frame *
ice_top_frame(ice_context *ctx)
{
    return &ctx->walk_frames[ctx->walk_depth - 1];
}

/* Puts the nodes of an object and of its map, and returns the index of the map. */
static inline uint32_t
ice_put_object(ice_walker *w, uint32_t class, uint8_t form, uint16_t key)
{
    ice_put_node(w, ICECORE_OBJECT, 0, key, ICE_CLASS(class) | ICE_FORM(form));
    return ice_put_node(w, ICECORE_MAP, 0, ICECORE_NO_KEY, 0);
}

/* ---- walk_open.c --------------------------------------------------------------- */

NORETURN(void ice_raise_too_deep(void));
/* For rb_hash_foreach: pushes a key and its value to the stack of values. */
int ice_collect_entry(VALUE key, VALUE value, VALUE walker);
/* Opens an object whose names and values are on the stack of values from `base` on. */
ice_walk_frame *ice_open_members(ice_walker *w, VALUE object, uint32_t class, uint8_t form, uint16_t key, long limit,
                                 uint32_t wrapper_count, uint32_t base);
void ice_open_range(ice_walker *w, VALUE range, ice_written_class *class, uint16_t key, long limit,
                    uint32_t wrapper_count);
void ice_open_struct(ice_walker *w, VALUE object, ice_written_class *class, uint16_t key, long limit,
                     uint32_t wrapper_count);
void ice_put_regexp(ice_walker *w, VALUE regexp, uint16_t key, uint32_t wrapper_count);
void ice_put_module(ice_walker *w, VALUE module, uint16_t key);

/* Raises if the number of an object's variables differs from `count`. The tape contains `count`
 * variables already, and a hook may have added or removed some since. */
void ice_check_variable_count(VALUE object, uint32_t count);
NORETURN(void ice_raise_variables_changed(VALUE object, bool is_more));

/* ---- walk_hooks.c --------------------------------------------------------------- */

extern ID ice_id_marshal_dump, ice_id_dump, ice_id_dump_data;
void ice_walk_hooks_init(void);
/* Returns true if an object has a hook. `class_has` says whether its class defines it. */
bool ice_has_hook(const ice_written_class *class, VALUE object, bool class_has, ID method);
/* Calls a hook, and returns its result. */
VALUE ice_call_hook(ice_walker *w, VALUE object, ID method, int argc, const VALUE *argv);
/* Opens an object whose contents are the result of a hook. */
void ice_open_hook_result(ice_walker *w, VALUE object, ice_written_class *class, uint8_t form, uint16_t key,
                          long limit, uint32_t wrapper_count, VALUE result);
void ice_open_marshal_dump(ice_walker *w, VALUE object, ice_written_class *class, uint16_t key, long limit);
void ice_open_dump(ice_walker *w, VALUE object, ice_written_class *class, uint16_t key, long limit);

/* ---- walk_records.c ------------------------------------------------------------- */

/* Opens a record: writes the data that the record was read from. */
void ice_open_record(ice_walker *w, VALUE record, uint16_t key, long limit);

#endif
