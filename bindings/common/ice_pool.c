#include "common/ice_pool.h"
#include "common/ice_host.h"
#include <string.h>

ice_warm *
ice_warm_new(size_t size)
{
    ice_warm *warm = ice_host_resize(NULL, size);
    memset(warm, 0, size);
    warm->engine = icecore_context_new();
    return warm;
}

void
ice_warm_free(ice_warm *warm)
{
    icecore_context_free(warm->engine);
    ice_host_free(warm);
}

void
ice_pool_forget(ice_pool *pool)
{
    pool->first = NULL;
    pool->count = 0;
}
