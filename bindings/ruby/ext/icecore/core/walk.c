/* The machine that walks values. It has a frame for each container, so depth takes
 * memory, but no stack.
 *
 * A hook may change everything: the length of an array is read again after each item,
 * and hashes and variables are copied before they are walked. Objects that were met stay
 * alive until the call ends. */
#include "core/walk_frames.h"

static VALUE backtrace_class;

static void open_value(ice_walker *w, VALUE value, uint16_t key, long limit);

/* Older Rubies count an integer that needs more than 31 bits as a level of its own. */
static bool wide_integers_are_levels;

static bool
is_level_itself(VALUE value)
{
    return wide_integers_are_levels && RB_FIXNUM_P(value) &&
           (FIX2LONG(value) < -(1L << 30) || FIX2LONG(value) >= 1L << 30);
}

/* Puts a value: a leaf completely, a container with its front. */
static void
put(ice_walker *w, VALUE value, uint16_t key, long limit)
{
    if (ICE_UNLIKELY(limit == 0 || (limit == 1 && is_level_itself(value))))
        ice_too_deep();
    if (!ice_put_leaf(w, value, key) && !ice_put_again(w, value, key))
        open_value(w, value, key, limit < 0 ? limit : limit - 1);
}

/* ---- containers ---------------------------------------------------------------------------- */

static void
open_array(ice_walker *w, VALUE array, uint16_t key, long limit, uint32_t wraps)
{
    const long length = RARRAY_LEN(array);
    const uint32_t node = ice_put_node(w, ICECORE_ARRAY, 0, key, 0);
    if (length > UINT32_MAX)
        ice_host_fail("too many items");
    ice_open_frame(w, W_ARRAY, array, node, (uint32_t)length, limit)->wraps = wraps;
}

/* Number of integers between two checks of the room on the tape. */
#define RUN 256

/* This many nested hashes are walked inside of Ruby's own loop over them. */
#define NESTED 64

typedef struct {
    ice_walker *walker;
    bool may;         /* keys may have ids */
    bool by_identity;
    long limit;
    uint32_t count;   /* number of entries */
} hash_walk;

static bool step(ice_walker *w, uint32_t depth);
static void close_frame(ice_walker *w);
static void put_key_value(ice_walker *w, VALUE key, long limit);

/* Walks everything that was opened above `depth`. */
static void
finish(ice_walker *w, uint32_t depth)
{
    while (w->ctx->walk_depth > depth)
        if (!step(w, w->ctx->walk_depth))
            close_frame(w);
}

static int
walk_entry(VALUE key, VALUE value, VALUE to)
{
    hash_walk *hash = (hash_walk *)to;
    ice_walker *w = hash->walker;
    uint16_t id = ICE_UNLIKELY(hash->by_identity || hash->limit == 1) ? 0 : ice_put_key(w, key, hash->may);
    hash->count++;
    if (ICE_UNLIKELY(!id)) {
        const uint32_t depth = w->ctx->walk_depth;
        put_key_value(w, key, hash->limit);
        finish(w, depth);
        id = ICECORE_KEY_NODE;
    }
    if (hash->limit == 1 || !ice_put_leaf(w, value, id)) {
        const uint32_t depth = w->ctx->walk_depth;
        put(w, value, id, hash->limit);
        finish(w, depth);
    }
    return ST_CONTINUE;
}

/* Whether an entry can be put without calling Ruby functions. */
static inline bool
is_quick(const ice_walker *w, VALUE key, VALUE value)
{
    if (!RB_STATIC_SYM_P(key) && (RB_SPECIAL_CONST_P(key) || !RB_TYPE_P(key, T_STRING) || !ICE_IS_INTERNED(key)))
        return false;
    if (RB_SPECIAL_CONST_P(value))
        return true;
    return RB_TYPE_P(value, T_STRING) && RBASIC_CLASS(value) == rb_cString && !RB_FL_ANY_RAW(value, FL_EXIVAR) &&
           RB_ENCODING_GET_INLINED(value) == rb_utf8_encindex();
}

/* Puts the entries of a small hash of leaves. */
static bool
put_pairs(ice_walker *w, VALUE hash, uint32_t size)
{
    uint32_t bound, i, count = 0;
    const VALUE *pairs = ice_hash_pairs(hash, &bound);
    if (!pairs || !w->has_plain_strings)
        return false;
    for (i = 0; i < bound; i++)
        if (pairs[2 * i] != Qundef) {
            count++;
            if (!is_quick(w, pairs[2 * i], pairs[2 * i + 1]))
                return false;
        }
    if (count != size)
        return false;
    for (i = 0; i < bound; i++)
        if (pairs[2 * i] != Qundef)
            ice_put_leaf(w, pairs[2 * i + 1], ice_put_key(w, pairs[2 * i], true));
    return true;
}

static void
open_hash(ice_walker *w, VALUE hash, uint16_t key, long limit, uint32_t wraps)
{
    const size_t size = RHASH_SIZE(hash);
    const VALUE standard = ice_hash_default(hash);
    const bool is_small = (limit < 0 || limit > 1) && size && size <= 8;
    bool by_identity;
    uint8_t flags = 0;
    uint32_t node, base = w->ctx->value_count;
    ice_walk_frame *frame;
    hash_walk walk;
    if (size > UINT32_MAX)
        ice_host_fail("too many entries");
    if (ICE_LIKELY(is_small && NIL_P(standard))) {
        node = ice_put_node(w, ICECORE_MAP, 0, key, 0);
        if (put_pairs(w, hash, (uint32_t)size)) {
            ice_end_node(w->tape, node, (uint32_t)size, wraps);
            return;
        }
        w->tape->node_count = node;
    }
    by_identity = size && ice_hash_by_identity(hash);
    walk = (hash_walk){ w, size <= ICECORE_MOST_IDS, by_identity, limit, 0 };
    if (!NIL_P(standard)) {
        if (RBASIC(hash)->flags & ice_hash_has_proc)
            ice_raise(ice_type_error, "value", "", "can't dump hash with default proc");
        flags |= ICECORE_FLAG_DEFAULT;
    }
    if (by_identity || (!size && ice_hash_by_identity(hash)))
        flags |= ICECORE_FLAG_IDENTITY;
    node = ice_put_node(w, ICECORE_MAP, flags, key, 0);
    if (size && limit == 0)
        ice_too_deep();
    if (ICE_LIKELY(w->nesting < NESTED)) {
        w->nesting++;
        rb_hash_foreach(hash, walk_entry, (VALUE)&walk);
        w->nesting--;
        ice_check_call(w->ctx, w->call);
        if (ICE_UNLIKELY(!NIL_P(standard))) {
            const uint32_t depth = w->ctx->walk_depth;
            put(w, ice_hash_default(hash), ICECORE_NO_KEY, limit);
            finish(w, depth);
        }
        ice_end_node(w->tape, node, walk.count, wraps);
        return;
    }
    rb_hash_foreach(hash, ice_collect_entry, (VALUE)w);
    frame = ice_open_frame(w, W_HASH, hash, node, (uint32_t)size, limit);
    frame->base = base;
    frame->extra = standard;
    frame->wraps = wraps;
}

static void
open_object(ice_walker *w, VALUE object, ice_written *class, uint16_t key, long limit, uint32_t wraps)
{
    const uint32_t id = ice_written_id(w, class);
    uint32_t base;
#if ICE_HAS_ROWS
    uint32_t count;
    ice_row *row = ice_row_of(w, class, object, &count);
    if (ICE_LIKELY(row != NULL)) {
        const uint32_t node = ice_put_object(w, id, ICECORE_FORM_USUAL, key);
        ice_walk_frame *frame;
        uint32_t at = 0, done = 0;
        if (ICE_LIKELY(limit < 0 || limit > 1) && ice_put_row(w, object, row, &at, &done)) {
            ice_end_node(w->tape, node, count, wraps + 1);
            return;
        }
        frame = ice_open_frame(w, W_ROW, object, node, count, limit);
        frame->wraps = (wraps + 1) | done << 16;
        frame->at = at;
        frame->row = row;
        return;
    }
#endif
    base = w->ctx->value_count;
    ice_variables_of(w, object);
    ice_open_named(w, object, id, ICECORE_FORM_USUAL, key, limit, wraps, base)->kind = W_PLAIN;
}

/* ---- all kinds of objects ------------------------------------------------------------------------ */

static void
open_core(ice_walker *w, VALUE value, ice_written *class, uint16_t key, long limit)
{
    uint32_t wraps;
    switch (RB_BUILTIN_TYPE(value)) {
    case T_STRING:
        wraps = ice_put_around(w, value, class, rb_cString, &key);
        ice_note_seen(w, value);
        ice_put_string(w, value, key, 0);
        ice_end_wraps(w->tape, wraps);
        return;
    case T_ARRAY:
        wraps = ice_put_around(w, value, class, rb_cArray, &key);
        ice_note_seen(w, value);
        open_array(w, value, key, limit, wraps);
        return;
    case T_HASH:
        wraps = ice_put_around(w, value, class, rb_cHash, &key);
        ice_note_seen(w, value);
        open_hash(w, value, key, limit, wraps);
        return;
    case T_REGEXP:
        wraps = ice_put_around(w, value, class, rb_cRegexp, &key);
        ice_note_seen(w, value);
        ice_put_regexp(w, value, key, wraps);
        return;
    case T_OBJECT:
        wraps = ice_put_around(w, value, class, 0, &key);
        ice_note_seen(w, value);
        open_object(w, value, class, key, limit, wraps);
        return;
    case T_STRUCT:
        wraps = ice_put_around(w, value, class, 0, &key);
        ice_note_seen(w, value);
        if (rb_get_alloc_func(class->real) == rb_get_alloc_func(rb_cRange))
            ice_open_range(w, value, class, key, limit, wraps);
        else
            ice_open_struct(w, value, class, key, limit, wraps);
        return;
    case T_CLASS:
    case T_MODULE:
        ice_note_seen(w, value);
        ice_put_module(w, value, key);
        return;
    case T_FLOAT:
        ice_note_seen(w, value);
        {
            const double number = RFLOAT_VALUE(value);
            uint64_t bits;
            memcpy(&bits, &number, sizeof bits);
            ice_put_node(w, ICECORE_FLOAT, 0, key, bits);
        }
        return;
    case T_BIGNUM:
        ice_note_seen(w, value);
        ice_put_big(w, value, key);
        return;
    case T_DATA:
        if (class->real == backtrace_class) {
            VALUE lines = ice_backtrace(value);
            ice_check_call(w->ctx, w->call);
            ice_note_seen(w, value);
            open_array(w, lines, key, limit, 0);
            return;
        }
        if (!rb_obj_respond_to(value, ice_id_dump_data, 1))
            ice_raise(ice_type_error, "value", "", "no _dump_data is defined for class %" PRIsVALUE, class->real);
        {
            VALUE result = ice_call_hook(w, value, ice_id_dump_data, 0, NULL);
            wraps = ice_put_around(w, value, class, 0, &key);
            ice_note_seen(w, value);
            ice_open_one(w, value, class, ICECORE_FORM_DATA, key, limit, wraps, result);
        }
        return;
    default:
        ice_raise(ice_type_error, "value", "", "can't dump %" PRIsVALUE, class->real);
    }
}

/* Opens a value that is not a leaf and was not met before. */
static void
open_value(ice_walker *w, VALUE value, uint16_t key, long limit)
{
    ice_written *class;
    uint32_t count = 0;
    const uint32_t base = w->ctx->value_count;
    if (!RBASIC_CLASS(value))
        ice_raise(ice_type_error, "value", "", "can't dump internal object");
    class = ice_written_of(w, RBASIC_CLASS(value));
    if (ICE_UNLIKELY(!class->is_plain)) {
        if (ice_has_hook(class, value, class->has_marshal_dump, ice_id_marshal_dump)) {
            ice_open_marshal_dump(w, value, class, key, limit);
            return;
        }
        if (ice_has_hook(class, value, class->has_dump, ice_id_dump)) {
            ice_open_dump(w, value, class, key, limit);
            return;
        }
    }
    if (RB_FL_ANY_RAW(value, FL_EXIVAR) || RB_TYPE_P(value, T_HASH)) {
        /* Those of a class or module are not dumped. */
        if (!RB_TYPE_P(value, T_OBJECT) && !RB_TYPE_P(value, T_CLASS) && !RB_TYPE_P(value, T_MODULE))
            count = ice_variables_of(w, value);
        if (count && RB_TYPE_P(value, T_DATA) && class->real == backtrace_class)
            w->ctx->value_count = base, count = 0;
    }
    if (ICE_UNLIKELY(count)) {
        const uint32_t node = ice_put_node(w, ICECORE_ATTRS, 0, key, 0);
        ice_walk_frame *frame = ice_open_frame(w, W_VARIABLES, value, node, count, limit);
        frame->base = base;
        key = ICECORE_NO_KEY;
    }
    if (ICE_UNLIKELY(class->real == ice_record))
        ice_open_record(w, value, key, limit);
    else
        open_core(w, value, class, key, limit);
}

/* ---- steps: each returns whether something was opened ---------------------------- */

/* Puts a run of integers; returns the index of its end. Nothing is allocated in Ruby, so
 * the items don't move. */
static uint32_t
put_integers(ice_walker *w, VALUE array, uint32_t at, uint32_t count)
{
    const VALUE *items = RARRAY_CONST_PTR(array);
    while (at < count && RB_FIXNUM_P(items[at])) {
        const uint32_t most = count - at < RUN ? count : at + RUN;
        ice_pen pen = ice_pen_take(w->engine, w->tape, RUN);
        while (at < most && RB_FIXNUM_P(items[at]))
            ice_pen_node(&pen, ICECORE_INT, ICECORE_NO_KEY, 0, (uint64_t)FIX2LONG(items[at++]));
        ice_pen_give(&pen, w->tape);
    }
    return at;
}

static bool
step_array(ice_walker *w, uint32_t depth)
{
    ice_walk_frame *frame = ice_top_frame(w->ctx);
    const VALUE array = frame->object;
    const long limit = frame->limit;
    const uint32_t count = frame->count;
    uint32_t i = frame->at;
    while (i < count) {
        if (ICE_UNLIKELY(RARRAY_LEN(array) != (long)count))
            ice_raise(ice_runtime_error, "other", "", "array modified during dump");
        if (RB_FIXNUM_P(RARRAY_AREF(array, i)) && (limit < 0 || limit > 1)) {
            i = put_integers(w, array, i, count);
            continue;
        }
        put(w, RARRAY_AREF(array, i), ICECORE_NO_KEY, limit);
        i++;
        if (w->ctx->walk_depth > depth) {
            w->ctx->walking[depth - 1].at = i;
            return true;
        }
    }
    if (ICE_UNLIKELY(RARRAY_LEN(array) != (long)count))
        ice_raise(ice_runtime_error, "other", "", "array modified during dump");
    return false;
}

/* Puts a key that is an object like others. A frozen string that Ruby does not intern is
 * an object of its own, even if it equals other keys. */
static void
put_key_value(ice_walker *w, VALUE key, long limit)
{
    const bool is_string = RB_TYPE_P(key, T_STRING);
    const size_t node = w->tape->node_count;
    put(w, key, ICECORE_IS_KEY, limit);
    if (is_string && w->tape->nodes[node].kind != ICECORE_LINK && w->tape->nodes[node].kind < ICECORE_ARRAY &&
        !(w->tape->nodes[node].flags & ICECORE_FLAG_HINT))
        w->tape->nodes[node].flags |= ICECORE_FLAG_TARGET;
}

static bool
step_hash(ice_walker *w, uint32_t depth)
{
    ice_context *ctx = w->ctx;
    for (;;) {
        ice_walk_frame *frame = ice_top_frame(ctx);
        const uint32_t at = frame->base + frame->at;
        const uint8_t flags = w->tape->nodes[frame->node].flags;
        if (at >= ctx->value_count)
            break;
        if (frame->at % 2 == 0) {
            const VALUE key = ctx->values[at];
            frame->at++;
            frame->key = flags & ICECORE_FLAG_IDENTITY ? 0 : ice_put_key(w, key, frame->count <= ICECORE_MOST_IDS);
            if (!frame->key) {
                frame->key = ICECORE_KEY_NODE;
                put_key_value(w, key, frame->limit);
            }
        } else {
            frame->at++;
            put(w, ctx->values[at], frame->key, frame->limit);
        }
        if (ctx->walk_depth > depth)
            return true;
    }
    {
        ice_walk_frame *frame = ice_top_frame(ctx);
        const VALUE standard = frame->extra;
        if (!NIL_P(standard)) {
            frame->extra = Qnil;
            frame->key = ICECORE_NO_KEY;
            put(w, standard, ICECORE_NO_KEY, frame->limit);
            if (ctx->walk_depth > depth)
                return true;
        }
    }
    return false;
}

static bool
is_keywords_mark(VALUE object, VALUE name)
{
    return RB_TYPE_P(object, T_HASH) && name == ID2SYM(rb_intern("K"));
}

static bool
step_named(ice_walker *w, uint32_t depth)
{
    ice_context *ctx = w->ctx;
    for (;;) {
        ice_walk_frame *frame = ice_top_frame(ctx);
        const uint32_t at = frame->base + 2 * frame->at;
        uint16_t key;
        if (frame->at >= frame->count) {
            if (ICE_UNLIKELY(ctx->ran_foreign && frame->kind == W_PLAIN))
                ice_check_count(frame->object, frame->count);
            return false;
        }
        frame->at++;
        if (ICE_UNLIKELY(frame->kind == W_VARIABLES && is_keywords_mark(frame->object, ctx->values[at]))) {
            /* Its value is not a level of its own. */
            key = ice_put_name(w, ctx->values[at], true);
            ice_put_leaf(w, Qtrue, key);
            continue;
        }
        if (frame->limit == 0)
            ice_too_deep();
        key = ice_put_name(w, ctx->values[at], frame->count <= ICECORE_MOST_IDS);
        put(w, ctx->values[at + 1], key, ice_top_frame(ctx)->limit);
        if (ctx->walk_depth > depth)
            return true;
    }
}

static bool
step_struct(ice_walker *w, uint32_t depth)
{
    ice_context *ctx = w->ctx;
    for (;;) {
        ice_walk_frame *frame = ice_top_frame(ctx);
        const uint32_t at = frame->at;
        uint16_t key;
        if (at >= frame->count)
            return false;
        frame->at++;
        key = ice_put_name(w, RARRAY_AREF(frame->extra, at), frame->count <= ICECORE_MOST_IDS);
        put(w, RSTRUCT_GET(frame->object, (int)at), key, frame->limit);
        if (ctx->walk_depth > depth)
            return true;
    }
}

#if ICE_HAS_ROWS
static bool
step_row(ice_walker *w, uint32_t depth)
{
    ice_context *ctx = w->ctx;
    for (;;) {
        ice_walk_frame *frame = ice_top_frame(ctx);
        ice_row *row = frame->row;
        ice_slot_of *slot;
        VALUE value;
        uint16_t key;
        if (frame->at >= row->count)
            break;
        slot = &row->slots[frame->at++];
        if (slot->place >= ROBJECT_NUMIV(frame->object))
            continue;
        value = ROBJECT_IVPTR(frame->object)[slot->place];
        if (value == Qundef)
            continue;
        frame->wraps += 1u << 16; /* counts the variables */
        key = slot->key;
        if (ICE_UNLIKELY(!key)) {
            key = ice_put_name(w, ID2SYM(slot->id), true);
            if (key != ICECORE_KEY_NODE)
                slot->key = key;
        }
        put(w, value, key, frame->limit);
        if (ctx->walk_depth > depth)
            return true;
    }
    {
        ice_walk_frame *frame = ice_top_frame(ctx);
        if (ICE_UNLIKELY(frame->wraps >> 16 != frame->count))
            ice_variables_changed(frame->object, frame->wraps >> 16 > frame->count);
        if (ICE_UNLIKELY(ctx->ran_foreign))
            ice_check_count(frame->object, frame->count);
        frame->wraps &= 0xFFFF;
    }
    return false;
}
#endif

static bool
step_one(ice_walker *w, uint32_t depth)
{
    ice_walk_frame *frame = ice_top_frame(w->ctx);
    if (frame->at)
        return false;
    frame->at = 1;
    put(w, frame->extra, ICECORE_NO_KEY, frame->limit);
    return w->ctx->walk_depth > depth;
}

/* Puts the value inside of a record around it, as it was before it became a record. */
static bool
step_around(ice_walker *w, uint32_t depth)
{
    ice_walk_frame *frame = ice_top_frame(w->ctx);
    VALUE record = frame->object, inner = frame->extra;
    uint32_t node;
    if (frame->at)
        return false;
    frame->at = 1;
    node = (uint32_t)w->tape->node_count;
    if (frame->limit == 0)
        ice_too_deep();
    if (RB_SPECIAL_CONST_P(inner))
        ice_raise(ice_type_error, "other", "", "a record around a value that has no class");
    open_value(w, inner, ICECORE_NO_KEY, frame->limit);
    while (w->tape->nodes[node].kind == ICECORE_ATTRS)
        node++;
    ice_seen_add(&w->ctx->seen, record, node);
    return w->ctx->walk_depth > depth;
}

static bool
step(ice_walker *w, uint32_t depth)
{
    switch (ice_top_frame(w->ctx)->kind) {
    case W_ARRAY:
        return step_array(w, depth);
    case W_HASH:
        return step_hash(w, depth);
#if ICE_HAS_ROWS
    case W_ROW:
        return step_row(w, depth);
#endif
    case W_NAMED:
    case W_PLAIN:
    case W_VARIABLES:
        return step_named(w, depth);
    case W_STRUCT:
        return step_struct(w, depth);
    case W_ONE:
        return step_one(w, depth);
    case W_AROUND:
        return step_around(w, depth);
    default:
        return false;
    }
}

static void
close_frame(ice_walker *w)
{
    ice_context *ctx = w->ctx;
    ice_walk_frame *frame = ice_top_frame(ctx);
    ice_end_node(w->tape, frame->node, frame->count + (frame->kind == W_VARIABLES), frame->wraps);
    if (frame->kind == W_DUMP)
        ice_seen_add(&ctx->seen, frame->object, frame->node);
    ctx->value_count = frame->base;
    ctx->walk_depth--;
}

void
ice_walk(ice_context *ctx, VALUE value, long limit)
{
    ice_walker walker = { ctx, ctx->warm.engine, &ctx->tape, ctx->call, 0, false };
    if (!backtrace_class) {
        ice_walk_hooks_init();
        backtrace_class = rb_path2class("Thread::Backtrace");
        rb_gc_register_mark_object(backtrace_class);
        wide_integers_are_levels = RUBY_API_VERSION_CODE < 30200;
    }
    ctx->ran_foreign = false;
    ice_tape_begin(walker.engine, &ctx->tape);
    ctx->tape.has_own_names = 1;
    ice_keys_of(ctx, ctx->tape.key_generation);
    ice_classes_renew(ctx, ctx->tape.class_generation);
    put(&walker, value, ICECORE_NO_KEY, limit);
    while (ctx->walk_depth)
        if (!step(&walker, ctx->walk_depth))
            close_frame(&walker);
    ice_tape_finish(walker.engine, &ctx->tape);
}
