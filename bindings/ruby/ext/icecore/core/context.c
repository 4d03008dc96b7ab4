/* Contexts that are reused from call to call, and the values that the collector marks.
 *
 * All contexts are in a list. When the collector runs, it marks the objects of busy
 * contexts: the values that are being built or walked, and the cached symbols, strings and
 * classes. An idle context drops its cached objects instead. So the cache does not keep an
 * object alive after a call. It does not keep the address of a freed object either, because a
 * new object at that address would be mistaken for the old one. */
#include "core/icecore_ruby.h"

/* Maximum sizes of stacks and of `layouts` that are kept from call to call. */
#define MAX_KEPT_ITEMS 4096
#define MAX_KEPT_LAYOUTS 64

static ice_pool pool;
static ice_context *all_contexts;
static ice_pooled_context *spare_contexts; /* structs without an engine, to be reused */
static uint32_t last_call;       /* number of the last call; never 0 */

/* ---- the collector ---------------------------------------------------------- */

/* Marks all objects of a busy context. */
static void
mark_busy(const ice_context *ctx)
{
    uint32_t i;
    for (i = 0; i < ctx->value_count; i++)
        rb_gc_mark(ctx->values[i]);
    for (i = 0; i < ctx->target_count; i++)
        rb_gc_mark(ctx->targets[i]);
    for (i = 0; i < ctx->build_depth; i++) {
        rb_gc_mark(ctx->build_frames[i].object);
        rb_gc_mark(ctx->build_frames[i].klass);
    }
    for (i = 0; i < ctx->walk_depth; i++) {
        rb_gc_mark(ctx->walk_frames[i].object);
        rb_gc_mark(ctx->walk_frames[i].extra_value);
    }
    for (i = 0; i < ctx->keys.capacity; i++)
        if (ctx->keys.by_id[i])
            rb_gc_mark((VALUE)ctx->keys.by_id[i]);
    for (i = 0; i < ctx->class_capacity; i++)
        if (ctx->classes[i].klass)
            rb_gc_mark(ctx->classes[i].klass);
    for (i = 0; i < ctx->written_count; i++)
        rb_gc_mark(ctx->written_classes[i]->klass);
    /* Objects that were met must stay alive: another object could get their address. */
    for (i = 0; i < ctx->seen.count; i++)
        rb_gc_mark(ctx->seen.objects[i].object);
}

/* Drops all cached objects. No memory is allocated or freed, because the collector is running.
 * The layouts stay in `layouts`, and are freed with the context. */
static void
forget_cached_objects(ice_context *ctx)
{
    uint32_t i;
    memset(ctx->keys.cache, 0, sizeof ctx->keys.cache);
    if (ctx->keys.capacity)
        memset(ctx->keys.by_id, 0, ctx->keys.capacity * sizeof *ctx->keys.by_id);
    for (i = 0; i < ctx->class_capacity; i++) {
        ctx->classes[i].klass = 0;
        ctx->classes[i].kind = ICE_CLASS_UNKNOWN;
        ctx->classes[i].verdict_call = 0;
    }
    for (i = 0; i < ctx->written_count; i++) {
        ctx->written_classes[i]->klass = 0;
        ctx->written_classes[i]->layout = NULL;
    }
    ctx->written_count = 0;
    ctx->written_class_indexes.count = 0;
    if (ctx->written_class_indexes.mask)
        memset(ctx->written_class_indexes.slots, 0, ((size_t)ctx->written_class_indexes.mask + 1) * sizeof(ice_slot));
    memset(ctx->written_class_cache, 0, sizeof ctx->written_class_cache);
    ctx->has_cached_objects = false;
}

/* Called when the collector marks: handles all contexts. */
static void
mark_contexts(void *unused)
{
    ice_context *ctx;
    ice_policy_forget_classes();
    for (ctx = all_contexts; ctx; ctx = ctx->next)
        if (ctx->is_busy)
            mark_busy(ctx);
        else if (ctx->has_cached_objects)
            forget_cached_objects(ctx);
}

static const rb_data_type_t marker_type = { "Icecore contexts", { mark_contexts, NULL, NULL }, NULL, NULL, 0 };

void
ice_context_init(void)
{
    static int marker;
    rb_gc_register_mark_object(rb_data_typed_object_wrap(rb_cObject, &marker, &marker_type));
}

/* ---- acquiring and releasing contexts ------------------------------------------------------- */

ice_context *
ice_context_acquire(void)
{
    ice_context *ctx = (ice_context *)ice_pool_pop(&pool);
    if (!ctx && spare_contexts) {
        ctx = (ice_context *)spare_contexts;
        spare_contexts = spare_contexts->next;
        ctx->pooled.next = NULL;
        ctx->pooled.engine = icecore_context_new();
    }
    if (!ctx) {
        ctx = (ice_context *)ice_pooled_context_new(sizeof *ctx);
        ctx->next = all_contexts;
        all_contexts = ctx;
    }
    ctx->is_busy = ctx->has_cached_objects = true;
    /* 0 is not a call: in the entries of classes it means that they were never checked. */
    if (++last_call == 0)
        last_call = 1;
    ctx->call = last_call;
    return ctx;
}

/* Frees a stack if it is large. `stack` points to the pointer to its memory. */
static void
trim_stack(void *stack, uint32_t *capacity)
{
    void **memory = stack;
    if (*capacity > MAX_KEPT_ITEMS) {
        ice_host_free(*memory);
        *memory = NULL;
        *capacity = 0;
    }
}

/* Keys need no release, because the table owns no references: mark_busy marks the keys. */
static void
release_nothing(void *host, void *key)
{
}

/* Frees the memory of an idle context, but not the struct itself. */
static void
free_context_memory(ice_context *ctx)
{
    uint32_t i;
    ice_keys_free(&ctx->keys, release_nothing, NULL);
    for (i = 0; i < ctx->class_capacity; i++)
        ice_host_free(ctx->classes[i].layout);
    for (i = 0; i < ctx->written_capacity; i++)
        ice_host_free(ctx->written_classes[i]);
    for (i = 0; i < ctx->layout_count; i++)
        ice_host_free(ctx->layouts[i]);
    ice_host_free(ctx->layouts);
    ice_host_free(ctx->classes);
    ice_host_free(ctx->written_classes);
    ice_host_free(ctx->values);
    ice_host_free(ctx->targets);
    ice_host_free(ctx->build_frames);
    ice_host_free(ctx->walk_frames);
    ice_seen_free(&ctx->seen);
    ice_map_free(&ctx->target_indexes);
    ice_map_free(&ctx->written_class_indexes);
    icecore_context_free(ctx->pooled.engine);
    /* The struct stays in the list of all contexts, so its `next` is kept. */
    {
        ice_context *const next = ctx->next;
        memset(ctx, 0, sizeof *ctx);
        ctx->next = next;
    }
}

/* Keeps the layouts of classes for the next call, unless there are many. */
static void
drop_many_layouts(ice_context *ctx)
{
    uint32_t i;
    if (ctx->layout_count <= MAX_KEPT_LAYOUTS)
        return;
    for (i = 0; i < ctx->layout_count; i++)
        ice_host_free(ctx->layouts[i]);
    ctx->layout_count = 0;
    for (i = 0; i < ctx->written_count; i++)
        ctx->written_classes[i]->layout = NULL;
}

void
ice_raise_reentered(void)
{
    ice_raise(ice_runtime_error, "other", "",
              "Icecore::Marshal reentered: a continuation came back to a call that ended");
}

void
ice_context_release(ice_context *ctx, uint32_t call)
{
    /* A continuation may end the same call twice. The context may then belong to a newer call. */
    if (ctx->call != call || !ctx->is_busy)
        return;
    ctx->value_count = ctx->target_count = ctx->build_depth = ctx->walk_depth = 0;
    ctx->is_busy = false;
    drop_many_layouts(ctx);
    ice_seen_clear(&ctx->seen);
    ice_map_clear(&ctx->target_indexes);
    trim_stack(&ctx->values, &ctx->value_capacity);
    trim_stack(&ctx->targets, &ctx->target_capacity);
    trim_stack(&ctx->build_frames, &ctx->build_capacity);
    trim_stack(&ctx->walk_frames, &ctx->walk_capacity);
    if (!ice_pool_release(&pool, &ctx->pooled)) {
        free_context_memory(ctx);
        ctx->pooled.next = spare_contexts;
        spare_contexts = &ctx->pooled;
    }
}

void
ice_reserve_values(ice_context *ctx, uint32_t more)
{
    do
        ctx->values = ice_stack_grow(ctx->values, &ctx->value_capacity, sizeof *ctx->values, 256);
    while (ctx->value_capacity - ctx->value_count < more);
}

void
ice_renew_keys(ice_context *ctx, uint32_t generation)
{
    uint32_t i, j;
    if (ctx->keys.generation == generation)
        return;
    ice_keys_set_generation(&ctx->keys, generation, release_nothing, NULL);
    /* The layouts contain key ids of the old generation. */
    for (i = 0; i < ctx->layout_count; i++)
        for (j = 0; j < ctx->layouts[i]->count; j++)
            ctx->layouts[i]->ivars[j].key = 0;
}

void
ice_renew_classes(ice_context *ctx, uint32_t generation)
{
    uint32_t i;
    if (ctx->class_generation == generation)
        return;
    for (i = 0; i < ctx->class_capacity; i++) {
        ctx->classes[i].klass = 0;
        ctx->classes[i].kind = ICE_CLASS_UNKNOWN;
        ctx->classes[i].verdict_call = 0;
        ctx->classes[i].rules_edition = 0;
    }
    for (i = 0; i < ctx->written_count; i++)
        ctx->written_classes[i]->id = 0;
    ctx->class_generation = generation;
}
