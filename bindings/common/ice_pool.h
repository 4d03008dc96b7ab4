/* Warm contexts: memory and names that live from call to call.
 *
 * A hook of the host may call the module again during a call, so each call takes a
 * context of its own out of a pool and gives it back when the host leaves the call, even
 * after an error (perl: SAVEDESTRUCTOR_X, Ruby: rb_ensure, PHP: the end of the function
 * and of the request). The data that a host keeps next to the engine's context is in a
 * struct of its own that begins with an ice_warm.
 *
 * A pool belongs to one thread (perl: interpreter, PHP: request globals). A forked
 * process continues with a copy; a thread that is cloned from another begins with an
 * empty pool: ice_pool_forget.
 *
 *   typedef struct { ice_warm warm; ice_keys keys; ... } my_context;
 *   my_context *ctx = (my_context *)ice_pool_take(&pool, sizeof *ctx);
 *   ...
 *   if (!ice_pool_give(&pool, &ctx->warm))
 *       my_context_free(ctx);   // frees what it has, then ice_warm_free(&ctx->warm)
 */
#ifndef ICE_POOL_H
#define ICE_POOL_H
#include "icecore.h"

/* At most this many contexts are kept. */
#define ICE_POOLED 8

typedef struct ice_warm ice_warm;

struct ice_warm {
    ice_warm *next;
    icecore_context *engine;
};

typedef struct {
    ice_warm *first;
    uint32_t count;
} ice_pool;

/* Makes a new context; all fields but its engine are zero. */
ice_warm *ice_warm_new(size_t size);
/* Empties a pool without freeing what another owns. */
void ice_pool_forget(ice_pool *pool);
/* Frees the engine's context and the host's struct. */
void ice_warm_free(ice_warm *warm);

/* Takes the next context of a pool; NULL: the pool is empty. */
static inline ice_warm *
ice_pool_next(ice_pool *pool)
{
    ice_warm *warm = pool->first;
    if (warm) {
        pool->first = warm->next;
        pool->count--;
    }
    return warm;
}

/* Takes a context out of the pool as it was given back, or makes a new one. `size`: of
 * the host's struct, the same each time. */
static inline ice_warm *
ice_pool_take(ice_pool *pool, size_t size)
{
    ice_warm *warm = ice_pool_next(pool);
    return warm ? warm : ice_warm_new(size);
}

/* Gives a context back, and frees the memory of a large document in its engine. 0: the
 * pool is full, and the caller must free the context. */
static inline int
ice_pool_give(ice_pool *pool, ice_warm *warm)
{
    icecore_context_trim(warm->engine);
    if (pool->count >= ICE_POOLED)
        return 0;
    warm->next = pool->first;
    pool->first = warm;
    pool->count++;
    return 1;
}

#endif
