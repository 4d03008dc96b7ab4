/* Contexts: memory and caches that are reused from call to call; the end of the request.
 *
 * Strings and classes in a context belong to the request. The engine's memory and names
 * belong to the process. A fatal error leaves by a jump, without releasing the context. So
 * contexts in use are in a list, and the end of the request releases them. */
#include "core/losses.h"
#include "core/memory.h"

/* Stacks of at most this many items are kept from call to call. */
#define MAX_KEPT_ITEMS 4096
/* The size in bytes to which the engine's memory is cut, if it is cut to a small one. */
#define SMALL_ENGINE_BYTES 4096

ice_context *
ice_context_acquire(void)
{
    ice_context *ctx = (ice_context *)ice_pool_acquire(&ICE_G(pool), sizeof *ctx);
    ctx->next_busy = ICE_G(busy_contexts);
    ctx->previous_busy = NULL;
    if (ctx->next_busy)
        ctx->next_busy->previous_busy = ctx;
    ICE_G(busy_contexts) = ctx;
    ctx->call_number = ++ICE_G(last_call_number);
    return ctx;
}

/* Drops a reference of ice_context.keys. */
static void
release_key(void *host, void *key)
{
    if (key != ICE_INTEGER_KEY)
        zend_string_release((zend_string *)key);
}

void
ice_context_free(ice_context *ctx)
{
    ice_keys_free(&ctx->keys, release_key, NULL);
    ice_classes_drop(ctx);
    pefree(ctx->classes, 1);
    pefree(ctx->build_frames, 1);
    pefree(ctx->targets, 1);
    pefree(ctx->delayed_actions, 1);
    pefree(ctx->walk_frames, 1);
    pefree(ctx->kept_values, 1);
    ice_map_free(&ctx->node_by_address);
    ice_written_classes_drop(ctx);
    pefree(ctx->written_classes, 1);
    ice_map_free(&ctx->written_class_indices);
    ice_pooled_context_free(&ctx->pooled);
}

/* Frees a stack that is too large to be kept. */
static void
free_if_large(void **stack, uint32_t *capacity)
{
    if (*capacity > MAX_KEPT_ITEMS) {
        pefree(*stack, 1);
        *stack = NULL;
        *capacity = 0;
    }
}

/* Clears everything that belongs to one call. Values of PHP are not released here. If
 * `is_heap_gone` is true, PHP drops its heap as a whole, and no block of it may be freed. */
static void
reset_call_state(ice_context *ctx, bool is_heap_gone)
{
    /* The text is in PHP's heap. The caller has freed it, or the heap is dropped. */
    ctx->written_text = (smart_str){ 0 };
    ice_memory_uncount(ctx, is_heap_gone);
    ctx->may_be_compressed = false;
    ctx->build_depth = ctx->target_count = ctx->delayed_action_count = ctx->walk_depth = ctx->kept_value_count = 0;
    ice_map_clear(&ctx->node_by_address);
    free_if_large((void **)&ctx->build_frames, &ctx->build_capacity);
    free_if_large((void **)&ctx->targets, &ctx->target_capacity);
    free_if_large((void **)&ctx->delayed_actions, &ctx->delayed_action_capacity);
    free_if_large((void **)&ctx->walk_frames, &ctx->walk_capacity);
    free_if_large((void **)&ctx->kept_values, &ctx->kept_value_capacity);
}

/* Removes a context from the list of those in use. */
static void
remove_from_busy_contexts(ice_context *ctx)
{
    if (ctx->next_busy)
        ctx->next_busy->previous_busy = ctx->previous_busy;
    if (ctx->previous_busy)
        ctx->previous_busy->next_busy = ctx->next_busy;
    else
        ICE_G(busy_contexts) = ctx->next_busy;
}

void
ice_context_release(ice_context *ctx)
{
    /* A destructor may call this module. This context is still in use at that time, so such a call
     * takes another one. */
    while (ctx->kept_value_count)
        zval_ptr_dtor(&ctx->kept_values[--ctx->kept_value_count]);
    smart_str_free(&ctx->written_text);
    /* Between calls the engine's memory is not counted in memory_limit. So only the first context
     * in the pool keeps much memory, and at most a 32nd of memory_limit. */
    if (UNEXPECTED(ctx->accounting_block != NULL))
        icecore_context_trim_to(ctx->pooled.engine,
                                ICE_G(pool).count ? SMALL_ENGINE_BYTES : (size_t)PG(memory_limit) / 32);
    reset_call_state(ctx, false);
    remove_from_busy_contexts(ctx);
    if (!ice_pool_release(&ICE_G(pool), &ctx->pooled))
        ice_context_free(ctx);
}

/* Drops the strings and classes of the request. If PHP drops its heap as a whole, the strings are
 * forgotten and not released. */
static void
end_request(ice_context *ctx, bool is_heap_gone)
{
    if (is_heap_gone) {
        memset(ctx->keys.cache, 0, sizeof ctx->keys.cache);
        if (ctx->keys.capacity)
            memset(ctx->keys.by_id, 0, ctx->keys.capacity * sizeof *ctx->keys.by_id);
    } else
        ice_keys_free(&ctx->keys, release_key, NULL);
    ice_classes_drop(ctx);
    ice_written_classes_drop(ctx);
}

void
ice_contexts_end_request(bool is_heap_gone)
{
    ice_context *ctx;
    ice_pool cleaned = { NULL, 0 };
    while ((ctx = ICE_G(busy_contexts))) {
        remove_from_busy_contexts(ctx);
        reset_call_state(ctx, is_heap_gone);
        icecore_context_trim_to(ctx->pooled.engine, SMALL_ENGINE_BYTES);
        if (!ice_pool_release(&ICE_G(pool), &ctx->pooled)) {
            end_request(ctx, is_heap_gone);
            ice_context_free(ctx);
        }
    }
    while ((ctx = (ice_context *)ice_pool_pop(&ICE_G(pool)))) {
        end_request(ctx, is_heap_gone);
        ice_pool_release(&cleaned, &ctx->pooled);
    }
    ICE_G(pool) = cleaned;
    ICE_G(checked_payloads) = NULL;
    icecore_buffer_free(&ICE_G(convert_output));
    ice_losses_drop();
    ICE_G(checked_class_count) = 0;
    ICE_G(has_serializable_class) = false;
}

void
ice_keys_reset(ice_context *ctx, uint32_t generation)
{
    ice_keys_set_generation(&ctx->keys, generation, release_key, NULL);
}

void *
ice_key_create(ice_context *ctx, uint16_t id)
{
    const char *text;
    const icecore_name *name = ice_name(&ctx->view.keys, id, &text);
    zend_string *key;
    if (!name)
        ice_host_fail("a key id without a key");
    if (name->node.kind == ICECORE_INT) {
        ice_keys_store(&ctx->keys, id, ICE_INTEGER_KEY);
        return ICE_INTEGER_KEY;
    }
    key = zend_string_init_existing_interned(text, name->node.aux, 0);
    zend_string_hash_val(key);
    ice_keys_store(&ctx->keys, id, key);
    return key;
}

zend_long
ice_key_number(ice_context *ctx, uint16_t id)
{
    const char *text;
    return (zend_long)ice_name(&ctx->view.keys, id, &text)->node.payload;
}

uint16_t
ice_key_register(ice_context *ctx, zend_string *key)
{
    const uint16_t id =
        icecore_key(ctx->pooled.engine, ICECORE_BYTES, 0, (const uint8_t *)ZSTR_VAL(key), ZSTR_LEN(key));
    if (id) {
        if (!ice_keys_get(&ctx->keys, id))
            ice_keys_store(&ctx->keys, id, zend_string_copy(key));
        /* Only the string that the table owns may be found by its address. Another string with
         * the same bytes may be freed, and its address may be reused for another key. */
        if (ice_keys_get(&ctx->keys, id) == (void *)key)
            ice_keys_remember_address(&ctx->keys, key, id);
    }
    return id;
}

void
ice_keep_for_call(ice_context *ctx, zval *value)
{
    if (ctx->kept_value_count == ctx->kept_value_capacity)
        ctx->kept_values = ice_stack_grow(ctx->kept_values, &ctx->kept_value_capacity, sizeof *ctx->kept_values, 64);
    ZVAL_COPY(&ctx->kept_values[ctx->kept_value_count], value);
    ctx->kept_value_count++;
}
