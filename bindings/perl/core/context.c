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

/* Stacks of frames and lists of targets with more entries than this are freed after a call. */
#define MAX_KEPT_ENTRIES 65536

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

/* Frees a context that is not in the pool. */
static void
free_context(pTHX_ ice_context *ctx)
{
    ice_free_keys(aTHX_ ctx);
    ice_map_free(&ctx->seen);
    ice_map_free(&ctx->stashes);
    Safefree(ctx->frames);
    Safefree(ctx->classes);
    Safefree(ctx->targets);
    Safefree(ctx->weak);
    Safefree(ctx->verdicts);
    ice_pooled_context_free(&ctx->pooled);
}

void
ice_contexts_free(pTHX)
{
    dMY_CXT;
    ice_context *ctx;
    while ((ctx = (ice_context *)ice_pool_pop(&MY_CXT.pool)))
        free_context(aTHX_ ctx);
}

void
ice_release_frozen(pTHX_ ice_context *ctx)
{
    /* Freeing may run destructors, which may call this module again. */
    ice_frozen *frozen = ctx->frozen;
    ice_frozen_link *links = ctx->frozen_links;
    const U32 count = ctx->frozen_count, frozen_link_count = ctx->frozen_link_count;
    U32 i;
    ctx->frozen = NULL;
    ctx->frozen_links = NULL;
    ctx->frozen_count = ctx->frozen_capacity = ctx->frozen_link_count = ctx->frozen_link_capacity = 0;
    for (i = 0; i < count; i++)
        SvREFCNT_dec(frozen[i].variable);
    for (i = 0; i < frozen_link_count; i++)
        SvREFCNT_dec(links[i].variable);
    Safefree(frozen);
    Safefree(links);
}

/* Returns a context to the pool when its call ends, and resets what belongs to the call. */
static void
return_context(pTHX_ void *data)
{
    dMY_CXT;
    ice_context *ctx = (ice_context *)data;
    AV *kept_values = ctx->kept_values;
    SV *root = ctx->root;
    U32 i;

    ctx->depth = 0;
    ctx->kept_values = NULL;
    ctx->root = NULL;
    ctx->owns_input = FALSE;
    ctx->refused_thaws = NULL;
    ctx->body_was_checked = ctx->has_opaque = FALSE;
    ctx->document = NULL;
    ctx->document_len = 0;
    ctx->is_uncompressed = FALSE;
    ice_map_clear(&ctx->seen);
    ice_map_clear(&ctx->stashes);
    ctx->class_count = 0;
    if (ctx->frozen_count)
        ice_release_frozen(aTHX_ ctx);
    if (ctx->weak_count) {
        /* The call died before the references became weak. */
        SV **weak = ctx->weak;
        U32 count = ctx->weak_count;
        ctx->weak = NULL;
        ctx->weak_count = ctx->weak_capacity = 0;
        for (i = 0; i < count; i++)
            SvREFCNT_dec(weak[i]);
        Safefree(weak);
    }
    if (ctx->target_count) {
        /* Freeing may run destructors, which may call this module again. */
        ice_target *targets = ctx->targets;
        U32 count = ctx->target_count;
        ctx->targets = NULL;
        ctx->target_count = ctx->target_capacity = 0;
        for (i = 0; i < count; i++) {
            SvREFCNT_dec(targets[i].variable);
            SvREFCNT_dec(targets[i].referent);
        }
        /* If a destructor used this context, it has another list now. */
        if (ctx->targets == NULL && count <= MAX_KEPT_ENTRIES) {
            ctx->targets = targets;
            ctx->target_capacity = count;
        } else
            Safefree(targets);
    }
    if (ctx->frame_capacity > MAX_KEPT_ENTRIES) {
        Safefree(ctx->frames);
        ctx->frames = NULL;
        ctx->frame_capacity = 0;
    }
    if (!ice_pool_release(&MY_CXT.pool, &ctx->pooled))
        free_context(aTHX_ ctx);
    /* These are released last. Their destructors may call this module, and such a call may take
     * this context out of the pool. */
    SvREFCNT_dec(root);
    SvREFCNT_dec((SV *)kept_values);
}

ice_context *
ice_take_context(pTHX)
{
    dMY_CXT;
    ice_context *ctx = (ice_context *)ice_pool_acquire(&MY_CXT.pool, sizeof(ice_context));
    SAVEDESTRUCTOR_X(return_context, ctx);
    return ctx;
}

void
ice_keep_for_call(pTHX_ ice_context *ctx, SV *sv)
{
    if (!ctx->kept_values)
        ctx->kept_values = newAV();
    av_push(ctx->kept_values, sv);
}

/* Returns a new frame, whose contents are undefined. Frames may move. */
ice_frame *
ice_push_frame(pTHX_ ice_context *ctx)
{
    if (ctx->depth == ctx->frame_capacity) {
        U32 capacity = ctx->frame_capacity ? ctx->frame_capacity * 2 : 64;
        Renew(ctx->frames, capacity, ice_frame);
        ctx->frame_capacity = capacity;
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
ice_read_error(pTHX_ const icecore_error *error, const ice_read_settings *settings, const char *bytes, STRLEN len)
{
#define RAISE(option) "raise it with " option " => N if the input is trusted"
    const ice_limit_words advice[] = {
        { ICE_TRAILING, settings->trailing_advice ? settings->trailing_advice : "cut them off" },
        { "depth", settings->depth_advice ? settings->depth_advice : RAISE("max_recursion_depth") },
        { "decompressed", RAISE("max_uncompressed_size") },
        { "string", RAISE("max_string_length") }
    };
#undef RAISE
    /* Without names_limit_options, only the advice about trailing bytes is given, and that about
     * the depth if the settings have it. */
    const size_t advice_count = settings->names_limit_options ? C_ARRAY_LENGTH(advice)
                              : settings->depth_advice        ? 2
                                                              : 1;
    ice_line line;
    SV *original_message = settings->translate_error ? settings->translate_error(aTHX_ error, bytes, len) : NULL;
    ice_message(error, advice, advice_count, &line);
    return original_message ? sv_2mortal(newSVpvf("%" SVf ": %s", SVfARG(original_message), line.text))
                            : sv_2mortal(newSVpv(line.text, 0));
}

void
ice_croak_read_error(pTHX_ const icecore_error *error, const ice_read_settings *settings, const char *bytes,
                     STRLEN len)
{
    croak("%" SVf, SVfARG(ice_read_error(aTHX_ error, settings, bytes, len)));
}
