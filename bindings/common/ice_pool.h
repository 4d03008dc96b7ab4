/* Warm contexts: memory and names that live from call to call.
 *
 * A hook of the host may call the module again while a call goes on, so each call takes a
 * context of its own out of a pool and gives it back when the host leaves the call,
 * however that happens (perl: SAVEDESTRUCTOR_X, Ruby: rb_ensure, PHP: the end of the
 * function and of the request). What a host keeps beside the engine's context stands in a
 * struct of its own that begins with an ice_warm.
 *
 * A pool belongs to one thread (perl: interpreter, PHP: request globals). A process that
 * forks goes on with a copy; a thread that is cloned from another begins with an empty
 * pool: ice_pool_forget.
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

/* More contexts than this are not kept. */
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

/* A new context, all zeros but for its engine. */
ice_warm *ice_warm_new(size_t size);
/* Begins empty, without freeing what another owns. */
void ice_pool_forget(ice_pool *pool);
/* Frees the engine's context and the host's struct. */
void ice_warm_free(ice_warm *warm);

/* The next context of a pool; NULL: there is none left. */
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

/* A context out of the pool as it was given back, or a new one. `size`: of the host's
 * struct, the same each time. */
static inline ice_warm *
ice_pool_take(ice_pool *pool, size_t size)
{
    ice_warm *warm = ice_pool_next(pool);
    return warm ? warm : ice_warm_new(size);
}

/* Gives a context back, which frees what a large document left in its engine. 0: the
 * pool is full, and the caller frees it. */
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
