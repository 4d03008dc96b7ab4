/* Contexts: memory and caches that are reused from call to call.
 *
 * A hook may call the module again during a call, so each call takes a context of its own
 * out of a pool. */
#include "core/icecore_perl.h"

#define MY_CXT_KEY "Icecore::contexts" XS_VERSION
typedef struct {
    ice_pool pool;
} my_cxt_t;
START_MY_CXT

/* Lists of frames and targets with more entries than this are freed after a call. */
#define KEPT 65536

void
ice_contexts_boot(pTHX)
{
    MY_CXT_INIT;
    ice_pool_abandon(&MY_CXT.pool);
}

/* A cloned interpreter starts with an empty pool, because the contexts in the copied pool
 * belong to the original interpreter. */
void
ice_contexts_clone(pTHX)
{
    MY_CXT_CLONE;
    ice_pool_abandon(&MY_CXT.pool);
}

static void
context_free(pTHX_ ice_context *ctx)
{
    ice_keys_drop(aTHX_ ctx);
    ice_map_free(&ctx->seen);
    ice_map_free(&ctx->stashes);
    Safefree(ctx->frames);
    Safefree(ctx->classes);
    Safefree(ctx->targets);
    Safefree(ctx->weak);
    Safefree(ctx->verdicts);
    ice_pooled_context_free(&ctx->warm);
}

void
ice_contexts_free(pTHX)
{
    dMY_CXT;
    ice_context *ctx;
    while ((ctx = (ice_context *)ice_pool_pop(&MY_CXT.pool)))
        context_free(aTHX_ ctx);
}

void
ice_forget_frozen(pTHX_ ice_context *ctx)
{
    /* Freeing may run destructors, which may call this module again. */
    ice_frozen *frozen = ctx->frozen;
    ice_frozen_link *links = ctx->links;
    const U32 count = ctx->frozen_count, link_count = ctx->link_count;
    U32 i;
    ctx->frozen = NULL;
    ctx->links = NULL;
    ctx->frozen_count = ctx->frozen_room = ctx->link_count = ctx->link_room = 0;
    for (i = 0; i < count; i++)
        SvREFCNT_dec(frozen[i].variable);
    for (i = 0; i < link_count; i++)
        SvREFCNT_dec(links[i].variable);
    Safefree(frozen);
    Safefree(links);
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
    ctx->denied = NULL;
    ctx->is_checked = ctx->has_opaque = FALSE;
    ctx->source = NULL;
    ctx->source_len = 0;
    ctx->is_plain = FALSE;
    ice_map_clear(&ctx->seen);
    ice_map_clear(&ctx->stashes);
    ctx->class_count = 0;
    if (ctx->frozen_count)
        ice_forget_frozen(aTHX_ ctx);
    if (ctx->target_count) {
        /* Freeing may run destructors, which may call this module again. */
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
    if (!ice_pool_release(&MY_CXT.pool, &ctx->warm))
        context_free(aTHX_ ctx);
    SvREFCNT_dec(root);
    SvREFCNT_dec((SV *)keep);
}

ice_context *
ice_checkout(pTHX)
{
    dMY_CXT;
    ice_context *ctx = (ice_context *)ice_pool_acquire(&MY_CXT.pool, sizeof(ice_context));
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

void
ice_croak_error(pTHX_ const icecore_error *error)
{
    ice_line line;
    croak("%s", ice_message(error, NULL, 0, &line));
}

SV *
ice_read_error(pTHX_ const icecore_error *error, const ice_read_settings *set, const char *bytes, STRLEN len)
{
#define TRUSTED(option) "raise it with " option " => N if the input is trusted"
    const ice_limit_words words[] = { { ICE_TRAILING, set->trailing ? set->trailing : "cut them off" },
                                      { "depth", set->deeper ? set->deeper : TRUSTED("max_recursion_depth") },
                                      { "decompressed", TRUSTED("max_uncompressed_size") },
                                      { "string", TRUSTED("max_string_length") } };
#undef TRUSTED
    ice_line line;
    SV *first = set->original_words ? set->original_words(aTHX_ error, bytes, len) : NULL;
    ice_message(error, words, set->names_limits ? C_ARRAY_LENGTH(words) : set->deeper ? 2 : 1, &line);
    return first ? sv_2mortal(newSVpvf("%" SVf ": %s", SVfARG(first), line.text)) : sv_2mortal(newSVpv(line.text, 0));
}

void
ice_croak_read_error(pTHX_ const icecore_error *error, const ice_read_settings *set, const char *bytes, STRLEN len)
{
    croak("%" SVf, SVfARG(ice_read_error(aTHX_ error, set, bytes, len)));
}
