/* Warm contexts: memory and caches that live from call to call, and the end of the
 * request.
 *
 * Strings and classes belong to the request; the engine's memory and names belong to the
 * process. A fatal error leaves by a jump, so contexts in use are also in a list. */
#include "core/memory.h"

/* Stacks up to this size are kept from call to call. */
#define KEPT 4096

ice_context *
ice_checkout(void)
{
    ice_context *ctx = (ice_context *)ice_pool_acquire(&ICE_G(pool), sizeof *ctx);
    ctx->next_busy = ICE_G(busy);
    ctx->previous_busy = NULL;
    if (ctx->next_busy)
        ctx->next_busy->previous_busy = ctx;
    ICE_G(busy) = ctx;
    ctx->call = ++ICE_G(call);
    return ctx;
}

static void
release_key(void *host, void *held)
{
    if (held != ICE_INTEGER)
        zend_string_release((zend_string *)held);
}

void
ice_context_free(ice_context *ctx)
{
    ice_keys_free(&ctx->keys, release_key, NULL);
    ice_classes_drop(ctx);
    pefree(ctx->classes, 1);
    pefree(ctx->building, 1);
    pefree(ctx->targets, 1);
    pefree(ctx->delayed, 1);
    pefree(ctx->walking, 1);
    pefree(ctx->held, 1);
    ice_map_free(&ctx->seen);
    ice_written_drop(ctx);
    pefree(ctx->written, 1);
    ice_map_free(&ctx->written_places);
    ice_pooled_context_free(&ctx->warm);
}

static void
trim(void **stack, uint32_t *room)
{
    if (*room > KEPT) {
        pefree(*stack, 1);
        *stack = NULL;
        *room = 0;
    }
}

/* `is_gone`: PHP's heap is dropped as a whole. */
static void
empty(ice_context *ctx, bool is_gone)
{
    /* It belongs to the request. */
    ctx->text = (smart_str){ 0 };
    ice_memory_release(ctx, is_gone);
    ctx->expands = false;
    ctx->build_depth = ctx->target_count = ctx->delayed_count = ctx->walk_depth = ctx->held_count = 0;
    ice_map_clear(&ctx->seen);
    trim((void **)&ctx->building, &ctx->build_room);
    trim((void **)&ctx->targets, &ctx->target_room);
    trim((void **)&ctx->delayed, &ctx->delayed_room);
    trim((void **)&ctx->walking, &ctx->walk_room);
    trim((void **)&ctx->held, &ctx->held_room);
}

static void
leave_busy(ice_context *ctx)
{
    if (ctx->next_busy)
        ctx->next_busy->previous_busy = ctx->previous_busy;
    if (ctx->previous_busy)
        ctx->previous_busy->next_busy = ctx->next_busy;
    else
        ICE_G(busy) = ctx->next_busy;
}

void
ice_checkin(ice_context *ctx)
{
    while (ctx->held_count)
        zval_ptr_dtor(&ctx->held[--ctx->held_count]);
    smart_str_free(&ctx->text);
    /* Between calls the engine's memory is not counted, so only a small part of the
     * limit is kept. */
    if (UNEXPECTED(ctx->ballast != NULL))
        icecore_context_trim_to(ctx->warm.engine, ICE_G(pool).count ? KEPT : (size_t)PG(memory_limit) / 32);
    empty(ctx, false);
    leave_busy(ctx);
    if (!ice_pool_release(&ICE_G(pool), &ctx->warm))
        ice_context_free(ctx);
}

/* Drops everything that the request made. After a fatal error its memory is dropped as a
 * whole, and data in it may be incomplete. */
static void
end_request(ice_context *ctx, bool is_unclean)
{
    if (is_unclean) {
        memset(ctx->keys.cache, 0, sizeof ctx->keys.cache);
        if (ctx->keys.capacity)
            memset(ctx->keys.by_id, 0, ctx->keys.capacity * sizeof *ctx->keys.by_id);
    } else
        ice_keys_free(&ctx->keys, release_key, NULL);
    ice_classes_drop(ctx);
    ice_written_drop(ctx);
}

void
ice_contexts_end_request(bool is_unclean)
{
    ice_context *ctx;
    ice_pool kept = { NULL, 0 };
    while ((ctx = ICE_G(busy))) {
        leave_busy(ctx);
        empty(ctx, is_unclean);
        icecore_context_trim_to(ctx->warm.engine, KEPT);
        if (!ice_pool_release(&ICE_G(pool), &ctx->warm)) {
            end_request(ctx, is_unclean);
            ice_context_free(ctx);
        }
    }
    while ((ctx = (ice_context *)ice_pool_pop(&ICE_G(pool)))) {
        end_request(ctx, is_unclean);
        ice_pool_release(&kept, &ctx->warm);
    }
    ICE_G(pool) = kept;
    ICE_G(payloads) = NULL;
    icecore_buffer_free(&ICE_G(taken));
    ICE_G(classes_seen) = 0;
    ICE_G(has_serializable) = false;
}

void
ice_keys_renew(ice_context *ctx, uint32_t generation)
{
    ice_keys_check(&ctx->keys, generation, release_key, NULL);
}

void *
ice_key_of(ice_context *ctx, uint16_t id)
{
    const char *text;
    const icecore_name *name = ice_name(&ctx->view.keys, id, &text);
    zend_string *key;
    if (!name)
        ice_host_fail("a key that is not there");
    if (name->node.kind == ICECORE_INT) {
        ice_keys_store(&ctx->keys, id, ICE_INTEGER);
        return ICE_INTEGER;
    }
    key = zend_string_init_existing_interned(text, name->node.aux, 0);
    zend_string_hash_val(key);
    ice_keys_store(&ctx->keys, id, key);
    return key;
}

zend_long
ice_integer_key(ice_context *ctx, uint16_t id)
{
    const char *text;
    return (zend_long)ice_name(&ctx->view.keys, id, &text)->node.payload;
}

/* Returns the id of a key of a map or of the name of a property; 0: it needs a node. */
uint16_t
ice_new_key_id(ice_context *ctx, zend_string *key)
{
    const uint16_t id =
        icecore_key(ctx->warm.engine, ICECORE_BYTES, 0, (const uint8_t *)ZSTR_VAL(key), ZSTR_LEN(key));
    if (id) {
        if (!ice_keys_get(&ctx->keys, id))
            ice_keys_store(&ctx->keys, id, zend_string_copy(key));
        /* Another string with the same bytes may be freed, and its address may be
         * reused. */
        if (ice_keys_get(&ctx->keys, id) == (void *)key)
            ice_keys_remember_address(&ctx->keys, key, id);
    }
    return id;
}

void
ice_hold(ice_context *ctx, zval *value)
{
    if (ctx->held_count == ctx->held_room)
        ctx->held = ice_stack_grow(ctx->held, &ctx->held_room, sizeof *ctx->held, 64);
    ZVAL_COPY(&ctx->held[ctx->held_count], value);
    ctx->held_count++;
}
