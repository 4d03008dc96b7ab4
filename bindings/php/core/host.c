/* Functions that the common code needs from PHP. They allocate memory that outlives a request, and
 * report failures. */
#include "core/memory.h"

void *
ice_host_resize(void *memory, size_t size)
{
    /* Stacks and maps double in size, so half of the new size is additional. */
    if (UNEXPECTED(size >= ICE_LARGE_BLOCK))
        ice_memory_add_stack(size / 2);
    return perealloc(memory, size, 1);
}

void
ice_host_free(void *memory)
{
    pefree(memory, 1);
}

void
ice_host_announce_size(icecore_context *engine, size_t bytes)
{
    ice_context *ctx = ICE_G(busy_contexts);
    while (ctx && ctx->pooled.engine != engine)
        ctx = ctx->next_busy;
    if (ctx)
        ice_memory_count_engine(ctx, bytes);
}

/* Leaves by PHP's bailout, which is a jump. What the call has open is released when the
 * request ends. */
void
ice_host_fail(const char *message)
{
    zend_error_noreturn(E_ERROR, "Icecore: %s", message);
}
