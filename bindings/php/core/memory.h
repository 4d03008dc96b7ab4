/* The engine's memory counts in memory_limit.
 *
 * The engine allocates outside of PHP's heap. Before a call it gets as much as the limit has left; what a document takes
 * is then counted by a block of PHP's heap that is as large and that nobody writes to, so it takes no memory itself. PHP
 * then says what it always says when there is too little, in memory_get_usage() the document is visible, and hooks have
 * what is really left. */
#ifndef ICE_MEMORY_H
#define ICE_MEMORY_H
#include "core/icecore_php.h"

/* The engine's own limit for what one document is decompressed to. */
#define ICE_MOST_DECOMPRESSED (UINT64_C(256) << 20)

/* From this size on a block is large. */
#define ICE_LARGE (1u << 18)

/* How many bytes the engine may take now; UINT64_MAX: any number. */
uint64_t ice_memory_left(void);
/* Whether an error says that these bytes were not enough. */
bool ice_memory_was_short(const icecore_error *error, uint64_t left);
/* Ends the call with PHP's own error, unless there is more than `left` now: PHP may have kept memory that it no longer
 * needs. `wanted` is what PHP says was asked for. */
void ice_memory_fail(uint64_t left, size_t wanted);
/* Called before one large block of PHP's heap is allocated. Some PHPs raise their error only when a function returns, and
 * end the process where a function takes twice the limit before that. */
void ice_memory_need_large(size_t size);
static inline void
ice_memory_need(size_t size)
{
    if (UNEXPECTED(size >= ICE_LARGE))
        ice_memory_need_large(size);
}
/* So much of it is never counted, over all calls that go on: small documents cost nothing, and are read where the heap
 * has a chunk left but no new one. */
#define ICE_UNCOUNTED (1u << 20)
/* A document of so many bytes is small: it takes this many times its bytes at most. */
#define ICE_SMALL 4096
#define ICE_TIMES (2 * sizeof(icecore_node))

/* Reads as icecore_read does, within the limit, and counts the document. `error` is not NULL. */
bool ice_memory_read_large(ice_context *ctx, icecore_stage *stage, const char *bytes, size_t len, uint32_t flags,
                           icecore_error *error);
static zend_always_inline bool
ice_memory_read(ice_context *ctx, icecore_stage *stage, const char *bytes, size_t len, uint32_t flags,
                icecore_error *error)
{
    const uint32_t most = (uint32_t)(ICE_TIMES * len);
    if (UNEXPECTED(len > ICE_SMALL) || UNEXPECTED(ctx->expands) || UNEXPECTED(ctx->uncounted) ||
        UNEXPECTED(ICE_G(uncounted) > ICE_UNCOUNTED - ICE_TIMES * ICE_SMALL))
        return ice_memory_read_large(ctx, stage, bytes, len, flags, error);
    ctx->uncounted = most;
    ICE_G(uncounted) += most;
    return icecore_read(ctx->warm.engine, stage, (const uint8_t *)bytes, len, flags, &ctx->view, error) == ICECORE_OK;
}
/* Counts what the engine has in a context until it is given back; more than before, or the same. */
void ice_memory_count(ice_context *ctx, size_t bytes);
/* Counts what the module's own stacks have in the call that goes on. */
void ice_memory_add(size_t bytes);
/* Counts nothing any more. `is_gone`: PHP's heap is dropped as a whole. */
static zend_always_inline void
ice_memory_release(ice_context *ctx, bool is_gone)
{
    if (UNEXPECTED(ctx->ballast != NULL)) {
        if (!is_gone)
            efree(ctx->ballast);
        ctx->ballast = NULL;
    }
    ICE_G(uncounted) -= ctx->uncounted;
    ctx->uncounted = 0;
    ctx->engine_bytes = ctx->stack_bytes = 0;
}

#endif
