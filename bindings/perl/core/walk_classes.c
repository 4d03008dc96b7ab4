/* Finds the ids and the hooks of the classes whose objects are walked. */
#include "core/walk.h"

/* Returns the class of a stash. Looks it up once for each call. The pointer is valid until
 * another class is added. A stash has no name if its package was deleted. */
ice_class *
iw_class_of(pTHX_ iw_walker *w, HV *stash)
{
    ice_context *ctx = w->ctx;
    ice_slot *slot;
    ice_class *class;
    const char *name;

    if (w->last_stash == stash)
        return w->last_class;
    slot = ice_map_find(&ctx->stashes, stash);
    if (!slot) {
        if (ctx->class_count == ctx->class_capacity) {
            ctx->class_capacity = ctx->class_capacity ? ctx->class_capacity * 2 : 16;
            Renew(ctx->classes, ctx->class_capacity, ice_class);
        }
        class = &ctx->classes[ctx->class_count];
        Zero(class, 1, ice_class);
        class->stash = stash;
        name = HvNAME_get(stash);
        if (!name)
            name = "__ANON__";
        class->id = icecore_class(
            ctx->pooled.engine, HvNAME_get(stash) && HvNAMEUTF8(stash) ? ICECORE_TEXT : ICECORE_BYTES,
            (const U8 *)name,
            iw_format_has(w, IW_NUL_NAMES) || !HvNAME_get(stash) ? strlen(name) : (STRLEN)HvNAMELEN_get(stash));
        if (!class->id)
            croak("Icecore: too many classes");
        class->is_record = !w->settings->cloning && strEQ(name, "Icecore::Record");
        if (w->rules->find_hook)
            w->rules->find_hook(aTHX_ w, class);
        slot = ice_map_add(&ctx->stashes, stash, ctx->class_count++);
    }
    w->last_stash = stash;
    w->last_class = &ctx->classes[slot->value];
    return w->last_class;
}

bool
iw_is_hooked(pTHX_ iw_walker *w, U32 class_index, SV *sv)
{
    const ice_class *class = &w->ctx->classes[class_index];
    return class->hook && !class->hook_ignored
        && (!w->rules->is_hook_allowed || w->rules->is_hook_allowed(aTHX_ w, class_index, sv));
}

U32
iw_class_id(pTHX_ iw_walker *w, SV *name)
{
    STRLEN len;
    const char *text = SvPV(name, len);
    const U32 id =
        icecore_class(w->ctx->pooled.engine, SvUTF8(name) ? ICECORE_TEXT : ICECORE_BYTES, (const U8 *)text, len);
    if (!id)
        croak("Icecore: too many classes");
    return id;
}
