/* Counts the engine's memory in memory_limit.
 *
 * The engine allocates outside of PHP's heap. Before a call it is limited to the bytes that
 * memory_limit leaves. After the call, a block of PHP's heap of the same size accounts for
 * the memory of the document. Nothing is written to this block, so the system gives it no
 * pages. The effect is that PHP raises its usual error if the memory is exceeded,
 * memory_get_usage() includes the document, and hooks can use only what really remains. */
#ifndef ICE_MEMORY_H
#define ICE_MEMORY_H
#include "core/icecore_php.h"

/* The engine's own limit for the decompressed size of a document. */
#define ICE_MAX_DECOMPRESSED (UINT64_C(256) << 20)

/* Blocks of at least this size are checked before PHP allocates them. */
#define ICE_LARGE_BLOCK (1u << 18)

/* Returns the number of bytes that the engine may allocate now, or UINT64_MAX if there is no
 * limit. */
uint64_t ice_memory_available(void);
/* Returns true if the error means that the engine needed more than these bytes. */
bool ice_memory_was_exceeded(const icecore_error *error, uint64_t available);
/* Frees memory that PHP holds but no longer needs. If even then at most `available` bytes are
 * available, ends the call with PHP's own error about memory; otherwise returns, and the
 * caller tries again. `size` is the size that PHP's message names. */
void ice_memory_free_or_fail(uint64_t available, size_t size);
/* Called before a block of PHP's heap is allocated. Ends the call if the block does not fit
 * into memory_limit. Some PHP versions raise the error only when a function returns, and
 * abort the process if the function takes twice the limit before it returns. */
void ice_memory_check_large(size_t size);
static inline void
ice_memory_check(size_t size)
{
    if (UNEXPECTED(size >= ICE_LARGE_BLOCK))
        ice_memory_check_large(size);
}
/* Up to this many bytes, over all running calls, are not counted by a block. So small
 * documents cost no allocation, and can be read when PHP's heap can't grow. */
#define ICE_MAX_UNCOUNTED (1u << 20)
/* A document of at most this many bytes is small. In memory it takes at most this multiple
 * of them. */
#define ICE_SMALL_DOCUMENT 4096
#define ICE_SMALL_DOCUMENT_FACTOR (2 * sizeof(icecore_node))

/* Reads as icecore_read does, within memory_limit, and counts the document. `error` must not
 * be NULL. */
bool ice_memory_read_large(ice_context *ctx, icecore_stage *stage, const char *bytes, size_t len, uint32_t flags,
                           icecore_error *error);
static zend_always_inline bool
ice_memory_read(ice_context *ctx, icecore_stage *stage, const char *bytes, size_t len, uint32_t flags,
                icecore_error *error)
{
    const uint32_t max_bytes = (uint32_t)(ICE_SMALL_DOCUMENT_FACTOR * len);
    if (UNEXPECTED(len > ICE_SMALL_DOCUMENT) || UNEXPECTED(ctx->may_be_compressed) ||
        UNEXPECTED(ctx->uncounted_bytes) ||
        UNEXPECTED(ICE_G(uncounted_bytes) > ICE_MAX_UNCOUNTED - ICE_SMALL_DOCUMENT_FACTOR * ICE_SMALL_DOCUMENT))
        return ice_memory_read_large(ctx, stage, bytes, len, flags, error);
    /* The memory of a small document has a known maximum, so it is counted before the document is
     * read, and without a block. */
    ctx->uncounted_bytes = max_bytes;
    ICE_G(uncounted_bytes) += max_bytes;
    return icecore_read(ctx->pooled.engine, stage, (const uint8_t *)bytes, len, flags, &ctx->view, error) ==
           ICECORE_OK;
}
/* Sets the size of the engine's memory in a context. It is counted until the context is released.
 * A smaller size than before is ignored. */
void ice_memory_count_engine(ice_context *ctx, size_t bytes);
/* Adds bytes of the module's own stacks to the memory of the current call. */
void ice_memory_add_stack(size_t bytes);
/* Stops counting. If `is_heap_gone` is true, PHP drops its heap as a whole, so the block must not
 * be freed. */
static zend_always_inline void
ice_memory_uncount(ice_context *ctx, bool is_heap_gone)
{
    if (UNEXPECTED(ctx->accounting_block != NULL)) {
        if (!is_heap_gone)
            efree(ctx->accounting_block);
        ctx->accounting_block = NULL;
    }
    ICE_G(uncounted_bytes) -= ctx->uncounted_bytes;
    ctx->uncounted_bytes = 0;
    ctx->engine_bytes = ctx->stack_bytes = 0;
}

#endif
