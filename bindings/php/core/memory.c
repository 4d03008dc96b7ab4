/* Counts the engine's memory in memory_limit. */
#include "core/memory.h"

/* Returns the number of bytes between memory_limit and the size of PHP's heap. */
static size_t
heap_available(void)
{
    const size_t limit = (size_t)PG(memory_limit), used = zend_memory_usage(1);
    return limit > used ? limit - used : 0;
}

uint64_t
ice_memory_available(void)
{
    return PG(memory_limit) <= 0 ? UINT64_MAX : MAX(heap_available(), ICE_MAX_UNCOUNTED - ICE_G(uncounted_bytes));
}

bool
ice_memory_was_exceeded(const icecore_error *error, uint64_t available)
{
    /* The engine uses at most half of its memory for decompressed data. If that half is not
     * below the engine's own limit, a larger memory_limit would not help. */
    return available != UINT64_MAX &&
           (error->detail == ICECORE_DETAIL_SIZE ||
            (error->detail == ICECORE_DETAIL_DECOMPRESSED && available / 2 < ICE_MAX_DECOMPRESSED));
}

void
ice_memory_free_or_fail(uint64_t available, size_t size)
{
    zend_mm_gc(zend_mm_get_heap());
    if (ice_memory_available() > available)
        return;
    zend_error_noreturn(E_ERROR,
                        "Allowed memory size of " ZEND_LONG_FMT " bytes exhausted (tried to allocate %zu bytes)",
                        PG(memory_limit), size);
}

void
ice_memory_check_large(size_t size)
{
    if (PG(memory_limit) <= 0)
        return;
    while (size > heap_available())
        ice_memory_free_or_fail(ice_memory_available(), size);
}

/* Allocates a block of PHP's heap that accounts for these bytes. The old block is freed first,
 * because PHP might copy it to enlarge it, and both blocks would take memory at the same time. */
static void
count_by_block(ice_context *ctx, size_t bytes)
{
    void *block = ctx->accounting_block;
    ctx->accounting_block = NULL;
    if (block)
        efree(block);
    ICE_G(uncounted_bytes) -= ctx->uncounted_bytes;
    ctx->uncounted_bytes = 0;
    ice_memory_check_large(bytes);
    ctx->accounting_block = emalloc(bytes);
}

/* Counts the bytes of the context. Few bytes are added to the uncounted bytes. If these would
 * exceed ICE_MAX_UNCOUNTED, or if the context has a block already, a block counts them. */
static void
update_count(ice_context *ctx)
{
    const size_t bytes = ctx->engine_bytes + ctx->stack_bytes;
    if (EXPECTED(bytes < ICE_MAX_UNCOUNTED) && !ctx->accounting_block &&
        ICE_G(uncounted_bytes) - ctx->uncounted_bytes + bytes <= ICE_MAX_UNCOUNTED) {
        ICE_G(uncounted_bytes) += (uint32_t)bytes - ctx->uncounted_bytes;
        ctx->uncounted_bytes = (uint32_t)bytes;
    } else if (PG(memory_limit) > 0)
        count_by_block(ctx, bytes);
}

void
ice_memory_count_engine(ice_context *ctx, size_t bytes)
{
    if (bytes <= ctx->engine_bytes)
        return;
    ctx->engine_bytes = bytes;
    update_count(ctx);
}

void
ice_memory_add_stack(size_t bytes)
{
    ice_context *ctx = ICE_G(busy_contexts);
    if (!ctx)
        return;
    ctx->stack_bytes += bytes;
    update_count(ctx);
}

/* Reads within the available memory. No limit is set if the document could not reach it even
 * with two nodes for each byte. */
static bool
read_within(ice_context *ctx, icecore_stage *stage, const char *bytes, size_t len, uint32_t flags, uint64_t available,
            icecore_error *error)
{
    const bool may_exceed =
        available != UINT64_MAX && (ctx->may_be_compressed || len > available / (2 * sizeof(icecore_node)));
    uint32_t kind;
    if (UNEXPECTED(may_exceed))
        icecore_stage_memory(stage, available);
    kind = icecore_read(ctx->pooled.engine, stage, (const uint8_t *)bytes, len, flags, &ctx->view, error);
    if (UNEXPECTED(may_exceed))
        icecore_stage_memory(stage, UINT64_MAX);
    return kind == ICECORE_OK;
}

bool
ice_memory_read_large(ice_context *ctx, icecore_stage *stage, const char *bytes, size_t len, uint32_t flags,
                      icecore_error *error)
{
    const icecore_view *view = &ctx->view;
    for (;;) {
        const uint64_t available = ice_memory_available();
        if (EXPECTED(read_within(ctx, stage, bytes, len, flags, available, error)))
            break;
        if (!ice_memory_was_exceeded(error, available))
            return false;
        ice_memory_free_or_fail(available, (size_t)available + ZEND_MM_ALIGNMENT);
    }
    ice_memory_count_engine(ctx, view->node_count * sizeof(icecore_node) + view->arena_len +
                              (view->input == (const uint8_t *)bytes ? 0 : view->input_len));
    return true;
}
