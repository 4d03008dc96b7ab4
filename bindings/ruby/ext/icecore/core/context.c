/* Warm contexts, and the values that the collector marks.
 *
 * All contexts are in a list. A busy one is marked: the values being built or walked,
 * and the symbols, strings and classes that it knows. An idle one forgets these instead,
 * so that nothing lives longer because it was once read or written, and no address can
 * be mistaken for that of another object. */
#include "core/icecore_ruby.h"

/* Stacks and rows up to these sizes are kept from call to call. */
#define KEPT 4096
#define ROWS_KEPT 64

static ice_pool pool;
static ice_context *all;
static ice_warm *spare; /* structs without an engine */
static uint32_t calls;

/* ---- the collector ---------------------------------------------------------- */

static void
mark_busy(const ice_context *ctx)
{
    uint32_t i;
    for (i = 0; i < ctx->value_count; i++)
        rb_gc_mark(ctx->values[i]);
    for (i = 0; i < ctx->target_count; i++)
        rb_gc_mark(ctx->targets[i]);
    for (i = 0; i < ctx->build_depth; i++) {
        rb_gc_mark(ctx->building[i].object);
        rb_gc_mark(ctx->building[i].klass);
    }
    for (i = 0; i < ctx->walk_depth; i++) {
        rb_gc_mark(ctx->walking[i].object);
        rb_gc_mark(ctx->walking[i].extra);
    }
    for (i = 0; i < ctx->keys.room; i++)
        if (ctx->keys.by_id[i])
            rb_gc_mark((VALUE)ctx->keys.by_id[i]);
    for (i = 0; i < ctx->class_room; i++)
        if (ctx->classes[i].klass)
            rb_gc_mark(ctx->classes[i].klass);
    for (i = 0; i < ctx->written_count; i++)
        rb_gc_mark(ctx->written[i]->klass);
    /* Objects that were met must stay alive: another object could get their address. */
    for (i = 0; i < ctx->seen.count; i++)
        rb_gc_mark(ctx->seen.objects[i].object);
}

/* Frees nothing, because the collector is running. */
static void
forget(ice_context *ctx)
{
    uint32_t i;
    memset(ctx->keys.near, 0, sizeof ctx->keys.near);
    if (ctx->keys.room)
        memset(ctx->keys.by_id, 0, ctx->keys.room * sizeof *ctx->keys.by_id);
    for (i = 0; i < ctx->class_room; i++) {
        ctx->classes[i].klass = 0;
        ctx->classes[i].how = ICE_UNKNOWN;
        ctx->classes[i].call = 0;
    }
    for (i = 0; i < ctx->written_count; i++) {
        ctx->written[i]->klass = 0;
        ctx->written[i]->row = NULL;
    }
    ctx->written_count = 0;
    ctx->written_places.used = 0;
    if (ctx->written_places.mask)
        memset(ctx->written_places.slots, 0, ((size_t)ctx->written_places.mask + 1) * sizeof(ice_slot));
    memset(ctx->near_written, 0, sizeof ctx->near_written);
    ctx->knows = false;
}

static void
mark(void *unused)
{
    ice_context *ctx;
    ice_policy_forget();
    for (ctx = all; ctx; ctx = ctx->next)
        if (ctx->is_busy)
            mark_busy(ctx);
        else if (ctx->knows)
            forget(ctx);
}

static const rb_data_type_t marker_type = { "Icecore contexts", { mark, NULL, NULL }, NULL, NULL, 0 };

void
ice_context_init(void)
{
    static int something;
    rb_gc_register_mark_object(rb_data_typed_object_wrap(rb_cObject, &something, &marker_type));
}

/* ---- checkout and checkin ------------------------------------------------------- */

ice_context *
ice_checkout(void)
{
    ice_context *ctx = (ice_context *)ice_pool_next(&pool);
    if (!ctx && spare) {
        ctx = (ice_context *)spare;
        spare = spare->next;
        ctx->warm.next = NULL;
        ctx->warm.engine = icecore_context_new();
    }
    if (!ctx) {
        ctx = (ice_context *)ice_warm_new(sizeof *ctx);
        ctx->next = all;
        all = ctx;
    }
    ctx->is_busy = ctx->knows = true;
    if (++calls == 0)
        calls = 1;
    ctx->call = calls;
    return ctx;
}

static void
trim(void *stack, uint32_t *room)
{
    void **memory = stack;
    if (*room > KEPT) {
        ice_host_free(*memory);
        *memory = NULL;
        *room = 0;
    }
}

static void
release_nothing(void *host, void *held)
{
}

/* Frees everything that an idle context keeps; the struct itself stays. */
static void
empty_context(ice_context *ctx)
{
    uint32_t i;
    ice_keys_free(&ctx->keys, release_nothing, NULL);
    for (i = 0; i < ctx->class_room; i++)
        ice_host_free(ctx->classes[i].row);
    for (i = 0; i < ctx->written_room; i++)
        ice_host_free(ctx->written[i]);
    for (i = 0; i < ctx->row_count; i++)
        ice_host_free(ctx->rows[i]);
    ice_host_free(ctx->rows);
    ice_host_free(ctx->classes);
    ice_host_free(ctx->written);
    ice_host_free(ctx->values);
    ice_host_free(ctx->targets);
    ice_host_free(ctx->building);
    ice_host_free(ctx->walking);
    ice_seen_free(&ctx->seen);
    ice_map_free(&ctx->target_places);
    ice_map_free(&ctx->written_places);
    icecore_context_free(ctx->warm.engine);
    {
        ice_context *const next = ctx->next;
        memset(ctx, 0, sizeof *ctx);
        ctx->next = next;
    }
}

/* Rows of classes are kept for the next call, unless there are many. */
static void
drop_rows(ice_context *ctx)
{
    uint32_t i;
    if (ctx->row_count <= ROWS_KEPT)
        return;
    for (i = 0; i < ctx->row_count; i++)
        ice_host_free(ctx->rows[i]);
    ctx->row_count = 0;
    for (i = 0; i < ctx->written_count; i++)
        ctx->written[i]->row = NULL;
}

void
ice_reentered(void)
{
    ice_raise(ice_runtime_error, "other", "", "Icecore::Marshal reentered: a continuation came back to a call that ended");
}

void
ice_checkin(ice_context *ctx, uint32_t call)
{
    if (ctx->call != call || !ctx->is_busy)
        return;
    ctx->value_count = ctx->target_count = ctx->build_depth = ctx->walk_depth = 0;
    ctx->is_busy = false;
    drop_rows(ctx);
    ice_seen_clear(&ctx->seen);
    ice_map_clear(&ctx->target_places);
    trim(&ctx->values, &ctx->value_room);
    trim(&ctx->targets, &ctx->target_room);
    trim(&ctx->building, &ctx->build_room);
    trim(&ctx->walking, &ctx->walk_room);
    if (!ice_pool_give(&pool, &ctx->warm)) {
        empty_context(ctx);
        ctx->warm.next = spare;
        spare = &ctx->warm;
    }
}

void
ice_more_values(ice_context *ctx, uint32_t more)
{
    do
        ctx->values = ice_stack_grow(ctx->values, &ctx->value_room, sizeof *ctx->values, 256);
    while (ctx->value_room - ctx->value_count < more);
}

void
ice_keys_renew(ice_context *ctx, uint32_t generation)
{
    uint32_t i, j;
    if (ctx->keys.generation == generation)
        return;
    ice_keys_check(&ctx->keys, generation, release_nothing, NULL);
    for (i = 0; i < ctx->row_count; i++)
        for (j = 0; j < ctx->rows[i]->count; j++)
            ctx->rows[i]->slots[j].key = 0;
}

void
ice_classes_renew(ice_context *ctx, uint32_t generation)
{
    uint32_t i;
    if (ctx->class_generation == generation)
        return;
    for (i = 0; i < ctx->class_room; i++) {
        ctx->classes[i].klass = 0;
        ctx->classes[i].how = ICE_UNKNOWN;
        ctx->classes[i].call = 0;
        ctx->classes[i].edition = 0;
    }
    for (i = 0; i < ctx->written_count; i++)
        ctx->written[i]->id = 0;
    ctx->class_generation = generation;
}
