/* Warm contexts: memory and caches that live from call to call.
 *
 * A hook may call the module again, so each call takes a context of its own out
 * of a pool. */
#include "core/icecore_perl.h"

#define MY_CXT_KEY "Icecore::contexts" XS_VERSION
typedef struct {
    ice_context *pool;
    U32 pooled;
} my_cxt_t;
START_MY_CXT

/* More contexts than this are freed when they come back. */
#define POOLED 8
/* Frames, targets and the like: as many are kept. */
#define KEPT 65536

void
ice_contexts_boot(pTHX)
{
    MY_CXT_INIT;
    MY_CXT.pool = NULL;
    MY_CXT.pooled = 0;
}

/* A new interpreter starts with nothing: what the pool holds belongs to the
 * interpreter that was cloned. */
void
ice_contexts_clone(pTHX)
{
    MY_CXT_CLONE;
    MY_CXT.pool = NULL;
    MY_CXT.pooled = 0;
}

static void
context_free(pTHX_ ice_context *ctx)
{
    icecore_context_free(ctx->engine);
    ice_keys_free(aTHX_ & ctx->keys);
    ice_map_free(&ctx->seen);
    ice_map_free(&ctx->stashes);
    Safefree(ctx->frames);
    Safefree(ctx->classes);
    Safefree(ctx->targets);
    Safefree(ctx->weak);
    Safefree(ctx->verdicts);
    Safefree(ctx);
}

void
ice_contexts_free(pTHX)
{
    dMY_CXT;
    while (MY_CXT.pool) {
        ice_context *ctx = MY_CXT.pool;
        MY_CXT.pool = ctx->next;
        context_free(aTHX_ ctx);
    }
    MY_CXT.pooled = 0;
}

static void
checkin(pTHX_ void *data)
{
    dMY_CXT;
    ice_context *ctx = (ice_context *)data;
    AV *keep = ctx->keep;
    SV *root = ctx->root;
    U32 i;

    ctx->depth = 0;
    ctx->weak_count = 0;
    ctx->keep = NULL;
    ctx->root = NULL;
    ctx->has_input = FALSE;
    if (ctx->seen.used)
        ice_map_clear(&ctx->seen);
    if (ctx->stashes.used)
        ice_map_clear(&ctx->stashes);
    ctx->class_count = 0;
    if (ctx->target_count) {
        /* Freeing may run destructors, which may come back here. */
        ice_target *targets = ctx->targets;
        U32 count = ctx->target_count;
        ctx->targets = NULL;
        ctx->target_count = ctx->target_room = 0;
        for (i = 0; i < count; i++) {
            SvREFCNT_dec(targets[i].variable);
            SvREFCNT_dec(targets[i].referent);
        }
        if (ctx->targets == NULL && count <= KEPT) {
            ctx->targets = targets;
            ctx->target_room = count;
        } else
            Safefree(targets);
    }
    if (ctx->room > KEPT) {
        Safefree(ctx->frames);
        ctx->frames = NULL;
        ctx->room = 0;
    }
    icecore_context_trim(ctx->engine);
    if (MY_CXT.pooled < POOLED) {
        ctx->next = MY_CXT.pool;
        MY_CXT.pool = ctx;
        MY_CXT.pooled++;
    } else
        context_free(aTHX_ ctx);
    SvREFCNT_dec(root);
    SvREFCNT_dec((SV *)keep);
}

ice_context *
ice_checkout(pTHX)
{
    dMY_CXT;
    ice_context *ctx = MY_CXT.pool;
    if (ctx) {
        MY_CXT.pool = ctx->next;
        MY_CXT.pooled--;
    } else {
        Newxz(ctx, 1, ice_context);
        ctx->engine = icecore_context_new();
    }
    SAVEDESTRUCTOR_X(checkin, ctx);
    return ctx;
}

void
ice_keep(pTHX_ ice_context *ctx, SV *sv)
{
    if (!ctx->keep)
        ctx->keep = newAV();
    av_push(ctx->keep, sv);
}

ice_frame *
ice_push_frame(pTHX_ ice_context *ctx)
{
    if (ctx->depth == ctx->room) {
        U32 room = ctx->room ? ctx->room * 2 : 64;
        Renew(ctx->frames, room, ice_frame);
        ctx->room = room;
    }
    return &ctx->frames[ctx->depth++];
}

/* ---- a map from addresses to numbers ---------------------------------- */

static U32
place(const void *key, U32 mask)
{
    UV bits = PTR2UV(key) >> 3;
    return (U32)((bits * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;
}

ice_slot *
ice_map_find(const ice_map *map, const void *key)
{
    U32 at;
    if (!map->used)
        return NULL;
    for (at = place(key, map->mask); map->slots[at].key; at = (at + 1) & map->mask)
        if (map->slots[at].key == key)
            return &map->slots[at];
    return NULL;
}

static void
grow(ice_map *map)
{
    U32 size = map->mask ? (map->mask + 1) * 2 : 64, i;
    ice_map bigger;
    Newxz(bigger.slots, size, ice_slot);
    bigger.mask = size - 1;
    bigger.used = map->used;
    for (i = 0; map->mask && i <= map->mask; i++)
        if (map->slots[i].key) {
            U32 at = place(map->slots[i].key, bigger.mask);
            while (bigger.slots[at].key)
                at = (at + 1) & bigger.mask;
            bigger.slots[at] = map->slots[i];
        }
    Safefree(map->slots);
    *map = bigger;
}

ice_slot *
ice_map_add(ice_map *map, const void *key, U32 value)
{
    U32 at;
    if (!map->mask || map->used * 2 > map->mask)
        grow(map);
    at = place(key, map->mask);
    while (map->slots[at].key && map->slots[at].key != key)
        at = (at + 1) & map->mask;
    if (!map->slots[at].key)
        map->used++;
    map->slots[at].key = key;
    map->slots[at].value = value;
    map->slots[at].object = ICECORE_NONE;
    return &map->slots[at];
}

void
ice_map_clear(ice_map *map)
{
    if (map->mask > KEPT) {
        ice_map_free(map);
        return;
    }
    Zero(map->slots, map->mask + 1, ice_slot);
    map->used = 0;
}

void
ice_map_free(ice_map *map)
{
    Safefree(map->slots);
    map->slots = NULL;
    map->mask = map->used = 0;
}

void
ice_croak_error(pTHX_ const icecore_error *error)
{
    croak("%s", error->message);
}

void
ice_croak_read_error(pTHX_ const icecore_error *error, bool names_limits)
{
    static const struct {
        const char *limit, *option;
    } options[] = { { "decompressed", "max_uncompressed_size" },
                    { "string", "max_string_length" },
                    { "depth", "max_recursion_depth" } };
    const char *const words = "(raise the limit `";
    const char *help = strstr(error->message, words);
    size_t i;
    if (help && names_limits)
        for (i = 0; i < C_ARRAY_LENGTH(options); i++) {
            const size_t len = strlen(options[i].limit);
            const char *name = help + strlen(words);
            if (strnEQ(name, options[i].limit, len) && name[len] == '`')
                croak("%.*s(raise it with %s => N if the input is trusted)", (int)(help - error->message), error->message,
                      options[i].option);
        }
    ice_croak_error(aTHX_ error);
}
