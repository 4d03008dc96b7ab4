/* Counts the engine's memory in memory_limit. */
#include "core/memory.h"

/* Returns the rest of the limit. */
static size_t
left_of_heap(void)
{
    const size_t limit = (size_t)PG(memory_limit), used = zend_memory_usage(1);
    return limit > used ? limit - used : 0;
}

uint64_t
ice_memory_left(void)
{
    return PG(memory_limit) <= 0 ? UINT64_MAX : MAX(left_of_heap(), ICE_UNCOUNTED - ICE_G(uncounted));
}

bool
ice_memory_was_short(const icecore_error *error, uint64_t left)
{
    /* Half of it is for decompressed data. */
    return left != UINT64_MAX && (error->detail == ICECORE_DETAIL_SIZE ||
                                  (error->detail == ICECORE_DETAIL_DECOMPRESSED && left / 2 < ICE_MOST_DECOMPRESSED));
}

void
ice_memory_fail(uint64_t left, size_t wanted)
{
    zend_mm_gc(zend_mm_get_heap());
    if (ice_memory_left() > left)
        return;
    zend_error_noreturn(E_ERROR, "Allowed memory size of " ZEND_LONG_FMT " bytes exhausted (tried to allocate %zu bytes)",
                        PG(memory_limit), wanted);
}

void
ice_memory_need_large(size_t size)
{
    if (PG(memory_limit) <= 0)
        return;
    while (size > left_of_heap())
        ice_memory_fail(ice_memory_left(), size);
}

/* Counts memory by a block of PHP's heap. Growing the old block would copy it, and take
 * memory. */
static void
count_by_block(ice_context *ctx, size_t bytes)
{
    void *block = ctx->ballast;
    ctx->ballast = NULL;
    if (block)
        efree(block);
    ICE_G(uncounted) -= ctx->uncounted;
    ctx->uncounted = 0;
    ice_memory_need_large(bytes);
    ctx->ballast = emalloc(bytes);
}

static void
count(ice_context *ctx)
{
    const size_t bytes = ctx->engine_bytes + ctx->stack_bytes;
    if (EXPECTED(bytes < ICE_UNCOUNTED) && !ctx->ballast && ICE_G(uncounted) - ctx->uncounted + bytes <= ICE_UNCOUNTED) {
        ICE_G(uncounted) += (uint32_t)bytes - ctx->uncounted;
        ctx->uncounted = (uint32_t)bytes;
    } else if (PG(memory_limit) > 0)
        count_by_block(ctx, bytes);
}

void
ice_memory_count(ice_context *ctx, size_t bytes)
{
    if (bytes <= ctx->engine_bytes)
        return;
    ctx->engine_bytes = bytes;
    count(ctx);
}

void
ice_memory_add(size_t bytes)
{
    ice_context *ctx = ICE_G(busy);
    if (!ctx)
        return;
    ctx->stack_bytes += bytes;
    count(ctx);
}

/* Reads within the memory that is left. If even a document of single bytes would be far
 * from that, no limit is set. */
static bool
read_within(ice_context *ctx, icecore_stage *stage, const char *bytes, size_t len, uint32_t flags, uint64_t left,
            icecore_error *error)
{
    const bool is_near = left != UINT64_MAX && (ctx->expands || len > left / (2 * sizeof(icecore_node)));
    uint32_t kind;
    if (UNEXPECTED(is_near))
        icecore_stage_memory(stage, left);
    kind = icecore_read(ctx->warm.engine, stage, (const uint8_t *)bytes, len, flags, &ctx->view, error);
    if (UNEXPECTED(is_near))
        icecore_stage_memory(stage, UINT64_MAX);
    return kind == ICECORE_OK;
}

bool
ice_memory_read_large(ice_context *ctx, icecore_stage *stage, const char *bytes, size_t len, uint32_t flags,
                      icecore_error *error)
{
    const icecore_view *view = &ctx->view;
    for (;;) {
        const uint64_t left = ice_memory_left();
        if (EXPECTED(read_within(ctx, stage, bytes, len, flags, left, error)))
            break;
        if (!ice_memory_was_short(error, left))
            return false;
        ice_memory_fail(left, (size_t)left + ZEND_MM_ALIGNMENT);
    }
    ice_memory_count(ctx, view->node_count * sizeof(icecore_node) + view->arena_len +
                              (view->input == (const uint8_t *)bytes ? 0 : view->input_len));
    return true;
}
