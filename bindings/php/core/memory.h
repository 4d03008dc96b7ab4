/* Counts the engine's memory in memory_limit.
 *
 * The engine allocates outside of PHP's heap. Before a call it may take as much as the
 * limit has left. Afterwards the memory of a document is counted by a block of PHP's
 * heap of the same size. Nobody writes to this block, so it takes no memory itself. So
 * PHP raises its usual error when there is too little, memory_get_usage() includes the
 * document, and hooks have only what is really left. */
#ifndef ICE_MEMORY_H
#define ICE_MEMORY_H
#include "core/icecore_php.h"

/* The engine's own limit for the decompressed size of a document. */
#define ICE_MOST_DECOMPRESSED (UINT64_C(256) << 20)

/* Blocks of this size or more are large. */
#define ICE_LARGE (1u << 18)

/* Returns the number of bytes that the engine may take now; UINT64_MAX: any number. */
uint64_t ice_memory_left(void);
/* Whether an error means that these bytes were not enough. */
bool ice_memory_was_short(const icecore_error *error, uint64_t left);
/* Ends the call with PHP's own error, unless more than `left` bytes are free now,
 * because PHP may have kept memory that it no longer needs. `wanted` is the size in
 * PHP's message. */
void ice_memory_fail(uint64_t left, size_t wanted);
/* Called before one large block of PHP's heap is allocated. Some PHPs raise their error
 * only when a function returns, and end the process if a function takes twice the limit
 * before that. */
void ice_memory_need_large(size_t size);
static inline void
ice_memory_need(size_t size)
{
    if (UNEXPECTED(size >= ICE_LARGE))
        ice_memory_need_large(size);
}
/* This many bytes are never counted, over all running calls: small documents cost
 * nothing, and can be read if the heap has no new chunk left. */
#define ICE_UNCOUNTED (1u << 20)
/* A document of at most this size is small: it takes at most ICE_TIMES its size. */
#define ICE_SMALL 4096
#define ICE_TIMES (2 * sizeof(icecore_node))

/* Reads as icecore_read does, within the limit, and counts the document. `error` is not
 * NULL. */
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
/* Counts the engine's memory of a context until it is given back. The size never
 * shrinks. */
void ice_memory_count(ice_context *ctx, size_t bytes);
/* Counts the memory of the module's own stacks in the current call. */
void ice_memory_add(size_t bytes);
/* Stops counting. `is_gone`: PHP's heap is dropped as a whole. */
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
