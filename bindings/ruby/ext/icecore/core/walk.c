/* The machine that walks values. It has a frame for each container, so a deep value needs
 * memory for frames, but not the C stack.
 *
 * A hook may change any object. Therefore the length of an array is read again after each item,
 * and hashes and variables are copied before they are walked. Objects that were met stay
 * alive until the call ends. */
#include "core/walk_frames.h"

static VALUE backtrace_class;

static void open_value(ice_walker *w, VALUE value, uint16_t key, long limit);

/* True before Ruby 3.2: there an integer that needs more than 31 bits counts as a level. */
static bool wide_integers_are_levels;

/* Returns true if an integer counts as a level. */
static bool
is_own_level(VALUE value)
{
    return wide_integers_are_levels && RB_FIXNUM_P(value) &&
           (FIX2LONG(value) < -(1L << 30) || FIX2LONG(value) >= 1L << 30);
}

/* Puts a leaf, or a link to an object that was met before; otherwise opens the value. `limit` is
 * the number of levels that may still follow; a negative number allows any depth. */
static void
put_value(ice_walker *w, VALUE value, uint16_t key, long limit)
{
    if (ICE_UNLIKELY(limit == 0 || (limit == 1 && is_own_level(value))))
        ice_raise_too_deep();
    if (!ice_put_leaf(w, value, key) && !ice_put_link_if_seen(w, value, key))
        open_value(w, value, key, limit < 0 ? limit : limit - 1);
}

/* ---- containers ---------------------------------------------------------------------------- */

/* Puts the node of an array, and opens a frame for its items. */
static void
open_array(ice_walker *w, VALUE array, uint16_t key, long limit, uint32_t wrapper_count)
{
    const long length = RARRAY_LEN(array);
    const uint32_t node = ice_put_node(w, ICECORE_ARRAY, 0, key, 0);
    if (length > UINT32_MAX)
        ice_host_fail("too many items");
    ice_open_frame(w, ICE_WALK_ARRAY, array, node, (uint32_t)length, limit)->wrapper_count = wrapper_count;
}

/* Number of integers that are put between two checks of the capacity of the tape. */
#define INTEGER_RUN 256

/* Maximum number of rb_hash_foreach loops that run one inside of another. Each loop uses the
 * C stack, so deeper hashes get frames instead. */
#define MAX_NESTED_LOOPS 64

/* What rb_hash_foreach passes to walk_entry. */
typedef struct {
    ice_walker *walker;
    bool may_use_ids; /* keys may have ids */
    bool by_identity; /* the hash compares its keys by identity */
    long limit;
    uint32_t count;   /* number of entries that were put */
} hash_entries_walk;

static bool step_top_frame(ice_walker *w, uint32_t depth);
static void close_frame(ice_walker *w);
static void put_key_value(ice_walker *w, VALUE key, long limit);

/* Walks the contents of all frames above `depth`, and closes them. A step that returns true has
 * opened a new top frame, so that frame is the next one to be walked. */
static void
finish_frames(ice_walker *w, uint32_t depth)
{
    while (w->ctx->walk_depth > depth)
        if (!step_top_frame(w, w->ctx->walk_depth))
            close_frame(w);
}

/* For rb_hash_foreach: puts an entry with all its contents. */
static int
walk_entry(VALUE key, VALUE value, VALUE data)
{
    hash_entries_walk *walk = (hash_entries_walk *)data;
    ice_walker *w = walk->walker;
    /* An id names all equal keys, so it can't name a key that is compared by identity. At the
     * last level put_value must see each key and value, because it refuses wide integers. */
    uint16_t id = ICE_UNLIKELY(walk->by_identity || walk->limit == 1) ? 0 : ice_put_key(w, key, walk->may_use_ids);
    walk->count++;
    if (ICE_UNLIKELY(!id)) {
        const uint32_t depth = w->ctx->walk_depth;
        put_key_value(w, key, walk->limit);
        finish_frames(w, depth);
        id = ICECORE_KEY_PRECEDES;
    }
    if (walk->limit == 1 || !ice_put_leaf(w, value, id)) {
        const uint32_t depth = w->ctx->walk_depth;
        put_value(w, value, id, walk->limit);
        finish_frames(w, depth);
    }
    return ST_CONTINUE;
}

/* Returns true if ice_put_key puts the key and ice_put_leaf puts the value, whatever they
 * contain. The caller has checked that strings are plain. */
static inline bool
is_leaf_entry(const ice_walker *w, VALUE key, VALUE value)
{
    if (!RB_STATIC_SYM_P(key) && (RB_SPECIAL_CONST_P(key) || !RB_TYPE_P(key, T_STRING) || !ICE_IS_INTERNED(key)))
        return false;
    if (RB_SPECIAL_CONST_P(value))
        return true;
    return RB_TYPE_P(value, T_STRING) && RBASIC_CLASS(value) == rb_cString && !ICE_MAY_HAVE_VARIABLES(value) &&
           RB_ENCODING_GET_INLINED(value) == rb_utf8_encindex();
}

/* Puts the entries of a small hash of leaves. Returns false if the hash is not one; then
 * nothing is put. */
static bool
put_small_hash(ice_walker *w, VALUE hash, uint32_t size)
{
    uint32_t bound, i, count = 0;
    const VALUE *pairs = ice_small_hash_entries(hash, &bound);
    if (!pairs || !w->has_plain_strings)
        return false;
    for (i = 0; i < bound; i++)
        if (pairs[2 * i] != Qundef) {
            count++;
            if (!is_leaf_entry(w, pairs[2 * i], pairs[2 * i + 1]))
                return false;
        }
    if (count != size)
        return false;
    /* is_leaf_entry has accepted all entries, so the results of these calls need not be checked. */
    for (i = 0; i < bound; i++)
        if (pairs[2 * i] != Qundef)
            ice_put_leaf(w, pairs[2 * i + 1], ice_put_key(w, pairs[2 * i], true));
    return true;
}

/* Puts a hash with all its entries; opens a frame only if too many loops are nested. */
static void
open_hash(ice_walker *w, VALUE hash, uint16_t key, long limit, uint32_t wrapper_count)
{
    const size_t size = RHASH_SIZE(hash);
    const VALUE default_value = ice_hash_default(hash);
    const bool is_small = (limit < 0 || limit > 1) && size && size <= 8;
    bool by_identity;
    uint8_t flags = 0;
    uint32_t node, base = w->ctx->value_count;
    ice_walk_frame *frame;
    hash_entries_walk walk;
    if (size > UINT32_MAX)
        ice_host_fail("too many entries");
    if (ICE_LIKELY(is_small && NIL_P(default_value))) {
        node = ice_put_node(w, ICECORE_MAP, 0, key, 0);
        if (put_small_hash(w, hash, (uint32_t)size)) {
            ice_end_node(w->tape, node, (uint32_t)size, wrapper_count);
            return;
        }
        /* Nothing was put into the map. Its node is removed, and put again with its flags. */
        w->tape->node_count = node;
    }
    by_identity = size && ice_hash_compares_by_identity(hash);
    walk = (hash_entries_walk){ w, size <= ICECORE_MAX_ENTRIES_WITH_IDS, by_identity, limit, 0 };
    if (!NIL_P(default_value)) {
        if (RBASIC(hash)->flags & ice_hash_has_proc)
            ice_raise(ice_type_error, "value", "", "can't dump hash with default proc");
        flags |= ICECORE_FLAG_DEFAULT;
    }
    if (by_identity || (!size && ice_hash_compares_by_identity(hash)))
        flags |= ICECORE_FLAG_IDENTITY;
    node = ice_put_node(w, ICECORE_MAP, flags, key, 0);
    /* walk_entry puts leaves without put_value, which would raise for them. */
    if (size && limit == 0)
        ice_raise_too_deep();
    if (ICE_LIKELY(w->nesting < MAX_NESTED_LOOPS)) {
        w->nesting++;
        rb_hash_foreach(hash, walk_entry, (VALUE)&walk);
        w->nesting--;
        /* Hooks of the entries may have run foreign code. */
        ice_check_call(w->ctx, w->call);
        if (ICE_UNLIKELY(!NIL_P(default_value))) {
            const uint32_t depth = w->ctx->walk_depth;
            put_value(w, ice_hash_default(hash), ICECORE_NO_KEY, limit);
            finish_frames(w, depth);
        }
        ice_end_node(w->tape, node, walk.count, wrapper_count);
        return;
    }
    rb_hash_foreach(hash, ice_collect_entry, (VALUE)w);
    frame = ice_open_frame(w, ICE_WALK_HASH, hash, node, (uint32_t)size, limit);
    /* The entries are on the stack of values already, so they begin below its top. */
    frame->base = base;
    frame->extra_value = default_value;
    frame->wrapper_count = wrapper_count;
}

/* Puts an object if all its variables are leaves at known indexes; otherwise opens it. The node
 * of the object ends with its map, as a wrapper does, so it counts as one more wrapper. */
static void
open_object(ice_walker *w, VALUE object, ice_written_class *class, uint16_t key, long limit, uint32_t wrapper_count)
{
    const uint32_t id = ice_written_class_id(w, class);
    uint32_t base;
#if ICE_HAS_IVAR_LAYOUTS
    uint32_t count;
    ice_ivar_layout *layout = ice_find_ivar_layout(w, class, object, &count);
    if (ICE_LIKELY(layout != NULL)) {
        const uint32_t node = ice_put_object(w, id, ICECORE_FORM_USUAL, key);
        ice_walk_frame *frame;
        uint32_t failed_ivar = 0, put_count = 0;
        if (ICE_LIKELY(limit < 0 || limit > 1) &&
            ice_put_ivars_by_layout(w, object, layout, &failed_ivar, &put_count)) {
            ice_end_node(w->tape, node, count, wrapper_count + 1);
            return;
        }
        /* The frame continues at the first variable that is not on the tape yet. */
        frame = ice_open_frame(w, ICE_WALK_LAYOUT, object, node, count, limit);
        frame->wrapper_count = wrapper_count + 1;
        frame->put_count = put_count;
        frame->next_child = failed_ivar;
        frame->layout = layout;
        return;
    }
#endif
    base = w->ctx->value_count;
    ice_push_variables(w, object);
    ice_open_members(w, object, id, ICECORE_FORM_USUAL, key, limit, wrapper_count, base)->kind = ICE_WALK_OBJECT;
}

/* ---- all kinds of objects ------------------------------------------------------------------------ */

/* Opens a set whose items are in memory of its own, as an object with the variable @hash. Further variables are in a
 * wrapper around the object, as Marshal of such a Ruby writes them. */
static void
open_core_set(ice_walker *w, VALUE set, ice_written_class *class, uint16_t key, long limit)
{
    /* The items' methods `hash` and `eql?` run here. */
    VALUE hash = ice_core_set_hash(set);
    const uint32_t base = w->ctx->value_count;
    uint32_t wrapper_count;
    ice_check_call(w->ctx, w->call);
    wrapper_count = ice_put_wrappers(w, set, class, 0, &key);
    ice_register_object(w, set);
    ice_push_value(w->ctx, ID2SYM(rb_intern("@hash")));
    ice_push_value(w->ctx, hash);
    ice_open_members(w, set, ice_written_class_id(w, class), ICECORE_FORM_USUAL, key, limit, wrapper_count, base);
}

/* Opens a value by its internal type, after wrappers for modules and a subclass. The wrappers are
 * put before the object is registered, because a link names the node of the value itself. */
static void
open_core_value(ice_walker *w, VALUE value, ice_written_class *class, uint16_t key, long limit)
{
    uint32_t wrapper_count;
    switch (RB_BUILTIN_TYPE(value)) {
    case T_STRING:
        wrapper_count = ice_put_wrappers(w, value, class, rb_cString, &key);
        ice_register_object(w, value);
        ice_put_string(w, value, key, 0);
        ice_end_wrappers(w->tape, wrapper_count);
        return;
    case T_ARRAY:
        wrapper_count = ice_put_wrappers(w, value, class, rb_cArray, &key);
        ice_register_object(w, value);
        open_array(w, value, key, limit, wrapper_count);
        return;
    case T_HASH:
        wrapper_count = ice_put_wrappers(w, value, class, rb_cHash, &key);
        ice_register_object(w, value);
        open_hash(w, value, key, limit, wrapper_count);
        return;
    case T_REGEXP:
        wrapper_count = ice_put_wrappers(w, value, class, rb_cRegexp, &key);
        ice_register_object(w, value);
        ice_put_regexp(w, value, key, wrapper_count);
        return;
    case T_OBJECT:
        wrapper_count = ice_put_wrappers(w, value, class, 0, &key);
        ice_register_object(w, value);
        open_object(w, value, class, key, limit, wrapper_count);
        return;
    case T_STRUCT:
        wrapper_count = ice_put_wrappers(w, value, class, 0, &key);
        ice_register_object(w, value);
        /* Subclasses of Range inherit its allocator. */
        if (rb_get_alloc_func(class->real_class) == rb_get_alloc_func(rb_cRange))
            ice_open_range(w, value, class, key, limit, wrapper_count);
        else
            ice_open_struct(w, value, class, key, limit, wrapper_count);
        return;
    case T_CLASS:
    case T_MODULE:
        ice_put_module(w, value, key);
        return;
    case T_FLOAT:
        ice_register_object(w, value);
        {
            const double number = RFLOAT_VALUE(value);
            uint64_t bits;
            memcpy(&bits, &number, sizeof bits);
            ice_put_node(w, ICECORE_FLOAT, 0, key, bits);
        }
        return;
    case T_BIGNUM:
        ice_register_object(w, value);
        ice_put_big(w, value, key);
        return;
    case T_DATA:
        /* A backtrace is written as the array of its lines. */
        if (class->real_class == backtrace_class) {
            VALUE lines = ice_backtrace(value);
            ice_check_call(w->ctx, w->call);
            ice_register_object(w, value);
            open_array(w, lines, key, limit, 0);
            return;
        }
        if (ice_is_core_set_class(class->real_class)) {
            open_core_set(w, value, class, key, limit);
            return;
        }
        if (!rb_obj_respond_to(value, ice_id_dump_data, 1))
            ice_raise(ice_type_error, "value", "", "no _dump_data is defined for class %" PRIsVALUE,
                      class->real_class);
        {
            VALUE result = ice_call_hook(w, value, ice_id_dump_data, 0, NULL);
            wrapper_count = ice_put_wrappers(w, value, class, 0, &key);
            ice_register_object(w, value);
            ice_open_hook_result(w, value, class, ICECORE_FORM_DATA, key, limit, wrapper_count, result);
        }
        return;
    default:
        ice_raise(ice_type_error, "value", "", "can't dump %" PRIsVALUE, class->real_class);
    }
}

/* Opens a value that is not a leaf and was not met before. */
static void
open_value(ice_walker *w, VALUE value, uint16_t key, long limit)
{
    ice_written_class *class;
    uint32_t count = 0;
    const uint32_t base = w->ctx->value_count;
    if (!RBASIC_CLASS(value))
        ice_raise(ice_type_error, "value", "", "can't dump internal object");
    class = ice_find_written_class(w, RBASIC_CLASS(value));
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
    /* The keywords flag of a hash is written like a variable, so a hash may have one without
     * variables. */
    if (ICE_MAY_HAVE_VARIABLES(value) || RB_TYPE_P(value, T_HASH)) {
        /* open_object writes the variables of a plain object. Those of a class or module are not
         * dumped. */
        if (!RB_TYPE_P(value, T_OBJECT) && !RB_TYPE_P(value, T_CLASS) && !RB_TYPE_P(value, T_MODULE))
            count = ice_push_variables(w, value);
        /* A backtrace is written as a new array, which does not have its variables. */
        if (count && RB_TYPE_P(value, T_DATA) && class->real_class == backtrace_class)
            w->ctx->value_count = base, count = 0;
    }
    if (ICE_UNLIKELY(count)) {
        const uint32_t node = ice_put_node(w, ICECORE_ATTRS, 0, key, 0);
        ice_walk_frame *frame = ice_open_frame(w, ICE_WALK_VARIABLES, value, node, count, limit);
        frame->base = base;
        /* The wrapper has the key. The value's own frame is above the wrapper's frame, so the
         * value is put before its variables. */
        key = ICECORE_NO_KEY;
    }
    if (ICE_UNLIKELY(class->real_class == ice_record))
        ice_open_record(w, value, key, limit);
    else
        open_core_value(w, value, class, key, limit);
}

/* ---- steps ------------------------------------------------------------------------ */

/* Each step function puts the children of the top frame. It returns true as soon as a child
 * was opened as a new frame above `depth`, and false when all children are put. */

/* Puts consecutive integers, and returns the index after the last one. The loop calls no Ruby
 * function and allocates no Ruby object, so the pointer to the array's items stays valid. */
static uint32_t
put_integers(ice_walker *w, VALUE array, uint32_t index, uint32_t count)
{
    const VALUE *items = RARRAY_CONST_PTR(array);
    while (index < count && RB_FIXNUM_P(items[index])) {
        const uint32_t run_end = count - index < INTEGER_RUN ? count : index + INTEGER_RUN;
        ice_tape_cursor cursor = ice_tape_cursor_begin(w->engine, w->tape, INTEGER_RUN);
        while (index < run_end && RB_FIXNUM_P(items[index]))
            ice_tape_cursor_push(&cursor, ICECORE_INT, ICECORE_NO_KEY, 0, (uint64_t)FIX2LONG(items[index++]));
        ice_tape_cursor_end(&cursor, w->tape);
    }
    return index;
}

/* Puts the items of an array. */
static bool
step_array(ice_walker *w, uint32_t depth)
{
    ice_walk_frame *frame = ice_top_frame(w->ctx);
    const VALUE array = frame->object;
    const long limit = frame->limit;
    const uint32_t count = frame->count;
    uint32_t i = frame->next_child;
    while (i < count) {
        if (ICE_UNLIKELY(RARRAY_LEN(array) != (long)count))
            ice_raise(ice_runtime_error, "other", "", "array modified during dump");
        if (RB_FIXNUM_P(RARRAY_AREF(array, i)) && (limit < 0 || limit > 1)) {
            i = put_integers(w, array, i, count);
            continue;
        }
        put_value(w, RARRAY_AREF(array, i), ICECORE_NO_KEY, limit);
        i++;
        /* The child's frame may have moved the frames, so `frame` is not used here. */
        if (w->ctx->walk_depth > depth) {
            w->ctx->walk_frames[depth - 1].next_child = i;
            return true;
        }
    }
    if (ICE_UNLIKELY(RARRAY_LEN(array) != (long)count))
        ice_raise(ice_runtime_error, "other", "", "array modified during dump");
    return false;
}

/* Puts a key that has no id. Writers treat equal keys as one object. A string that Ruby does not
 * intern is an object of its own, so it is marked as a target even if no link refers to it. */
static void
put_key_value(ice_walker *w, VALUE key, long limit)
{
    const bool is_string = RB_TYPE_P(key, T_STRING);
    const size_t node = w->tape->node_count;
    put_value(w, key, ICECORE_IS_KEY, limit);
    if (is_string && w->tape->nodes[node].kind != ICECORE_LINK && w->tape->nodes[node].kind < ICECORE_ARRAY &&
        !(w->tape->nodes[node].flags & ICECORE_FLAG_HINT))
        w->tape->nodes[node].flags |= ICECORE_FLAG_TARGET;
}

/* Puts the keys and values of a hash, then its default value. The top frame is looked up again
 * for each child, because opening a child may move the frames. */
static bool
step_hash(ice_walker *w, uint32_t depth)
{
    ice_context *ctx = w->ctx;
    for (;;) {
        ice_walk_frame *frame = ice_top_frame(ctx);
        const uint32_t position = frame->base + frame->next_child;
        const uint8_t flags = w->tape->nodes[frame->node].flags;
        if (position >= ctx->value_count)
            break;
        /* Keys and values alternate on the stack of values, beginning with a key. */
        if (frame->next_child % 2 == 0) {
            const VALUE key = ctx->values[position];
            frame->next_child++;
            frame->key = flags & ICECORE_FLAG_IDENTITY
                             ? 0
                             : ice_put_key(w, key, frame->count <= ICECORE_MAX_ENTRIES_WITH_IDS);
            if (!frame->key) {
                frame->key = ICECORE_KEY_PRECEDES;
                put_key_value(w, key, frame->limit);
            }
        } else {
            frame->next_child++;
            put_value(w, ctx->values[position], frame->key, frame->limit);
        }
        if (ctx->walk_depth > depth)
            return true;
    }
    {
        ice_walk_frame *frame = ice_top_frame(ctx);
        const VALUE default_value = frame->extra_value;
        /* This function runs again after the default value is walked: nil marks it as put. */
        if (!NIL_P(default_value)) {
            frame->extra_value = Qnil;
            frame->key = ICECORE_NO_KEY;
            put_value(w, default_value, ICECORE_NO_KEY, frame->limit);
            if (ctx->walk_depth > depth)
                return true;
        }
    }
    return false;
}

/* Returns true if a variable of a hash is the flag of ruby2_keywords, which is stored as a variable
 * with the name `K`. */
static bool
is_keywords_flag(VALUE object, VALUE name)
{
    return RB_TYPE_P(object, T_HASH) && name == ID2SYM(rb_intern("K"));
}

/* Puts names and values from the stack of values. */
static bool
step_members(ice_walker *w, uint32_t depth)
{
    ice_context *ctx = w->ctx;
    for (;;) {
        ice_walk_frame *frame = ice_top_frame(ctx);
        const uint32_t position = frame->base + 2 * frame->next_child;
        uint16_t key;
        if (frame->next_child >= frame->count) {
            if (ICE_UNLIKELY(ctx->ran_hooks && frame->kind == ICE_WALK_OBJECT))
                ice_check_variable_count(frame->object, frame->count);
            return false;
        }
        frame->next_child++;
        if (ICE_UNLIKELY(frame->kind == ICE_WALK_VARIABLES &&
                         is_keywords_flag(frame->object, ctx->values[position]))) {
            /* Marshal does not count the flag's value as a level, so the limit is not checked. */
            key = ice_put_name(w, ctx->values[position], true);
            ice_put_leaf(w, Qtrue, key);
            continue;
        }
        if (frame->limit == 0)
            ice_raise_too_deep();
        key = ice_put_name(w, ctx->values[position], frame->count <= ICECORE_MAX_ENTRIES_WITH_IDS);
        put_value(w, ctx->values[position + 1], key, ice_top_frame(ctx)->limit);
        if (ctx->walk_depth > depth)
            return true;
    }
}

/* Puts the members of a Struct. */
static bool
step_struct(ice_walker *w, uint32_t depth)
{
    ice_context *ctx = w->ctx;
    for (;;) {
        ice_walk_frame *frame = ice_top_frame(ctx);
        const uint32_t member = frame->next_child;
        uint16_t key;
        if (member >= frame->count)
            return false;
        frame->next_child++;
        key = ice_put_name(w, RARRAY_AREF(frame->extra_value, member), frame->count <= ICECORE_MAX_ENTRIES_WITH_IDS);
        put_value(w, RSTRUCT_GET(frame->object, (int)member), key, frame->limit);
        if (ctx->walk_depth > depth)
            return true;
    }
}

#if ICE_HAS_IVAR_LAYOUTS
/* Puts the variables of an object at their known indexes. A hook may set or remove variables
 * between two steps, so the indexes are checked in each step, and the number at the end. */
static bool
step_layout(ice_walker *w, uint32_t depth)
{
    ice_context *ctx = w->ctx;
    for (;;) {
        ice_walk_frame *frame = ice_top_frame(ctx);
        ice_ivar_layout *layout = frame->layout;
        ice_layout_ivar *slot;
        VALUE value;
        uint16_t key;
        if (frame->next_child >= layout->count)
            break;
        slot = &layout->ivars[frame->next_child++];
        if (slot->index >= ROBJECT_NUMIV(frame->object))
            continue;
        value = ROBJECT_IVPTR(frame->object)[slot->index];
        if (value == Qundef)
            continue;
        frame->put_count++;
        key = slot->key;
        if (ICE_UNLIKELY(!key)) {
            key = ice_put_name(w, ID2SYM(slot->id), true);
            if (key != ICECORE_KEY_PRECEDES)
                slot->key = key;
        }
        put_value(w, value, key, frame->limit);
        if (ctx->walk_depth > depth)
            return true;
    }
    {
        ice_walk_frame *frame = ice_top_frame(ctx);
        if (ICE_UNLIKELY(frame->put_count != frame->count))
            ice_raise_variables_changed(frame->object, frame->put_count > frame->count);
        if (ICE_UNLIKELY(ctx->ran_hooks))
            ice_check_variable_count(frame->object, frame->count);
    }
    return false;
}
#endif

/* Puts the result of a hook, the only child. */
static bool
step_hook_result(ice_walker *w, uint32_t depth)
{
    ice_walk_frame *frame = ice_top_frame(w->ctx);
    if (frame->next_child)
        return false;
    frame->next_child = 1;
    put_value(w, frame->extra_value, ICECORE_NO_KEY, frame->limit);
    return w->ctx->walk_depth > depth;
}

/* Puts the value inside of a record of a module or a subclass, in the form in which it was read. */
static bool
step_wrapper_record(ice_walker *w, uint32_t depth)
{
    ice_walk_frame *frame = ice_top_frame(w->ctx);
    VALUE record = frame->object, inner = frame->extra_value;
    uint32_t node;
    if (frame->next_child)
        return false;
    frame->next_child = 1;
    node = (uint32_t)w->tape->node_count;
    /* The value is opened without put_value, so the limit is checked here. */
    if (frame->limit == 0)
        ice_raise_too_deep();
    if (RB_SPECIAL_CONST_P(inner))
        ice_raise(ice_type_error, "other", "", "a record around a value that has no class");
    open_value(w, inner, ICECORE_NO_KEY, frame->limit);
    /* Links to the record name the node of the value itself, after its wrappers. */
    while (w->tape->nodes[node].kind == ICECORE_ATTRS)
        node++;
    ice_seen_add(&w->ctx->seen, record, node);
    return w->ctx->walk_depth > depth;
}

/* Calls the step function of the top frame. */
static bool
step_top_frame(ice_walker *w, uint32_t depth)
{
    switch (ice_top_frame(w->ctx)->kind) {
    case ICE_WALK_ARRAY:
        return step_array(w, depth);
    case ICE_WALK_HASH:
        return step_hash(w, depth);
#if ICE_HAS_IVAR_LAYOUTS
    case ICE_WALK_LAYOUT:
        return step_layout(w, depth);
#endif
    case ICE_WALK_MEMBERS:
    case ICE_WALK_OBJECT:
    case ICE_WALK_VARIABLES:
        return step_members(w, depth);
    case ICE_WALK_STRUCT:
        return step_struct(w, depth);
    case ICE_WALK_HOOK_RESULT:
        return step_hook_result(w, depth);
    case ICE_WALK_WRAPPER_RECORD:
        return step_wrapper_record(w, depth);
    default:
        return false;
    }
}

/* Ends the node of the top frame, and pops the frame with its part of the stack of values. */
static void
close_frame(ice_walker *w)
{
    ice_context *ctx = w->ctx;
    ice_walk_frame *frame = ice_top_frame(ctx);
    /* The children of a wrapper with variables are the value and the variables. */
    ice_end_node(w->tape, frame->node, frame->count + (frame->kind == ICE_WALK_VARIABLES), frame->wrapper_count);
    /* Marshal registers an object with _dump only after the string that _dump returned. */
    if (frame->kind == ICE_WALK_DUMP)
        ice_seen_add(&ctx->seen, frame->object, frame->node);
    ctx->value_count = frame->base;
    ctx->walk_depth--;
}

void
ice_walk(ice_context *ctx, VALUE value, long limit)
{
    ice_walker walker = { ctx, ctx->pooled.engine, &ctx->tape, ctx->call, 0, false };
    if (!backtrace_class) {
        ice_walk_hooks_init();
        backtrace_class = rb_path2class("Thread::Backtrace");
        rb_gc_register_mark_object(backtrace_class);
        wide_integers_are_levels = RUBY_API_VERSION_CODE < 30200;
    }
    ctx->ran_hooks = false;
    ice_tape_begin(walker.engine, &ctx->tape);
    ctx->tape.has_own_names = 1;
    ice_check_key_generation(ctx, ctx->tape.key_generation);
    ice_renew_classes(ctx, ctx->tape.class_generation);
    put_value(&walker, value, ICECORE_NO_KEY, limit);
    while (ctx->walk_depth)
        if (!step_top_frame(&walker, ctx->walk_depth))
            close_frame(&walker);
    ice_tape_finish(walker.engine, &ctx->tape);
}
