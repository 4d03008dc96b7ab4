#include "common/ice_pool.h"
#include "common/ice_host.h"
#include <string.h>

ice_pooled_context *
ice_pooled_context_new(size_t size)
{
    ice_pooled_context *pooled = ice_host_resize(NULL, size);
    memset(pooled, 0, size);
    pooled->engine = icecore_context_new();
    return pooled;
}

void
ice_pooled_context_free(ice_pooled_context *pooled)
{
    icecore_context_free(pooled->engine);
    ice_host_free(pooled);
}

/* The contexts belong to the interpreter that this one was cloned from, so they are not freed. */
void
ice_pool_abandon(ice_pool *pool)
{
    pool->first = NULL;
    pool->count = 0;
}
