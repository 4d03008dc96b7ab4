/* A pool of contexts, whose memory and key ids are reused from call to call.
 *
 * A hook of the host may call the module again during a call, so each call takes a context of
 * its own from a pool. The host returns the context when it leaves the call, even after an
 * error (perl: SAVEDESTRUCTOR_X, Ruby: rb_ensure, PHP: the end of the function and of the
 * request). A host's own data of a context is in a struct that begins with an ice_pooled_context.
 *
 * A pool belongs to one thread (perl: interpreter, PHP: request globals). A forked
 * process continues with its copy of the pool. A cloned perl interpreter must call
 * ice_pool_abandon, because the contexts in its copy belong to the original.
 *
 *   typedef struct { ice_pooled_context pooled; ice_keys keys; ... } my_context;
 *   my_context *ctx = (my_context *)ice_pool_acquire(&pool, sizeof *ctx);
 *   ...
 *   if (!ice_pool_release(&pool, &ctx->pooled))
 *       my_context_free(ctx);   // frees its own fields, then ice_pooled_context_free(&ctx->pooled)
 */
#ifndef ICE_POOL_H
#define ICE_POOL_H
#include "icecore.h"

/* Maximum number of contexts in a pool. */
#define ICE_POOL_MAX 8

typedef struct ice_pooled_context ice_pooled_context;

struct ice_pooled_context {
    ice_pooled_context *next;
    icecore_context *engine;
};

typedef struct {
    ice_pooled_context *first;
    uint32_t count;
} ice_pool;

/* Creates a context; `size` is the size of the host's struct. All fields except `engine` are
 * zero. */
ice_pooled_context *ice_pooled_context_new(size_t size);
/* Empties a pool without freeing its contexts, which belong to another interpreter. */
void ice_pool_abandon(ice_pool *pool);
/* Frees the engine's context and the host's struct. */
void ice_pooled_context_free(ice_pooled_context *pooled);

/* Removes a context from a pool and returns it. Returns NULL if the pool is empty. */
static inline ice_pooled_context *
ice_pool_pop(ice_pool *pool)
{
    ice_pooled_context *pooled = pool->first;
    if (pooled) {
        pool->first = pooled->next;
        pool->count--;
    }
    return pooled;
}

/* Removes a context from a pool and returns it; creates one if the pool is empty. A context from
 * the pool has the contents with which it was returned. `size` is the size of the host's struct,
 * and must be the same in all calls. */
static inline ice_pooled_context *
ice_pool_acquire(ice_pool *pool, size_t size)
{
    ice_pooled_context *pooled = ice_pool_pop(pool);
    return pooled ? pooled : ice_pooled_context_new(size);
}

/* Returns a context to a pool, after freeing the memory of a large document in its engine.
 * The result is 1. If the pool is full, the result is 0, and the caller must free the context. */
static inline int
ice_pool_release(ice_pool *pool, ice_pooled_context *pooled)
{
    icecore_context_trim(pooled->engine);
    if (pool->count >= ICE_POOL_MAX)
        return 0;
    pooled->next = pool->first;
    pool->first = pooled;
    pool->count++;
    return 1;
}

#endif
