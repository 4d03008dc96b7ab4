/* The rules of Storable for walking values. */
#define IW_FORMAT                                                                                           \
    (IW_PERL_ORDER | IW_KEY_FLAGS | IW_TIES | IW_NUL_NAMES | IW_REFERENT | IW_OVERLOAD | IW_EXACT_DEPTH \
     | IW_BLESS_IS_NO_LEVEL)
#define IW_PUSH_SCALAR iw_push_scalar
#include "core/walk_fast.h"
#include "storable/storable.h"

/* The template above has this function inlined. */
static void
push_scalar(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key, bool is_item)
{
    iw_push_scalar(aTHX_ w, sv, flags, key, is_item);
}

/* Of perl's immortal values, Storable has a form only for undef. Undef has another form if it is an
 * item of an array. True and false are stored as ordinary variables. */
static bool
put_immortal(pTHX_ iw_walker *w, SV *sv, U16 key, bool is_item)
{
    if (sv == &PL_sv_yes || sv == &PL_sv_no)
        return FALSE;
    /* A hook may return a reference to undef. This reference refers to the first undef of the
     * document that is not an item of an array. */
    if (!is_item && !ice_map_find(&w->ctx->seen, sv))
        ice_map_add(&w->ctx->seen, sv, (U32)w->tape->node_count);
    iw_push(aTHX_ w, ICECORE_NULL, is_item ? ICECORE_FLAG_OWN | ICECORE_FLAG_ITEM : ICECORE_FLAG_OWN, key, 0, 0);
    return TRUE;
}

/* Finds STORABLE_freeze of a class. */
static void
find_hook(pTHX_ iw_walker *w, ice_class *class)
{
    PERL_UNUSED_VAR(w);
    class->has_amagic = cBOOL(Gv_AMG(class->stash));
    class->hook = ice_find_method(aTHX_ class->stash, "STORABLE_freeze");
}

/* Calls the hook of an object. Returns NULL if the hook returned nothing. The object is then stored
 * as if there were no hook. */
static AV *
call_freeze_hook(pTHX_ iw_walker *w, SV *sv, U32 class_index)
{
    ice_class *class = &w->ctx->classes[class_index];
    SV *arguments[2];
    AV *list;

    ice_keep_for_call(aTHX_ w->ctx, arguments[0] = newRV_inc(sv));
    ice_keep_for_call(aTHX_ w->ctx, arguments[1] = newSViv(w->settings->cloning ? ICE_CLONING : 0));
    iw_protect_frames(aTHX_ w);
    list = ice_call_list(aTHX_ (SV *)class->hook, arguments, 2);
    ice_keep_for_call(aTHX_ w->ctx, (SV *)list);
    class = &w->ctx->classes[class_index];
    if (AvFILLp(list) < 0) {
        if (class->hook_used)
            croak("Too late to ignore hooks for %s class \"%s\"", w->settings->cloning ? "cloning" : "storing",
                  HvNAME_get(class->stash));
        class->hook_ignored = TRUE;
        return NULL;
    }
    if (AvFILLp(list) > 0 && ice_find_method(aTHX_ class->stash, "STORABLE_attach"))
        croak("Freeze cannot return references if %s class is using STORABLE_attach", HvNAME_get(class->stash));
    class->hook_used = TRUE;
    return list;
}

/* Puts an object as what its hook returned. Returns false if the hook returned nothing. */
static bool
put_hooked(pTHX_ iw_walker *w, SV *sv, U32 class_index, U8 flags, U16 key, U32 wrapper_count)
{
    const U32 id = w->ctx->classes[class_index].id;
    AV *list;
    /* The object is registered first, because the hook may return a reference to it. */
    if (!ice_map_find(&w->ctx->seen, sv))
        ice_map_add(&w->ctx->seen, sv, (U32)w->tape->node_count);
    list = call_freeze_hook(aTHX_ w, sv, class_index);
    w->last_stash = NULL;
    if (list)
        iw_put_hook_result(aTHX_ w, sv, list, id, flags, key, wrapper_count);
    return cBOOL(list);
}

/* Puts a value with magic, such as a tied variable. Returns false for magic that has no form. */
static bool
put_magical(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key, U32 wrapper_count)
{
    return SvMAGICAL(sv) && iw_put_magical(aTHX_ w, sv, flags, key, wrapper_count);
}

/* Dies for globs, handles and so on. With $forgive_me, puts a text instead. */
static void
put_unknown(pTHX_ iw_walker *w, SV *rv, SV *sv, U8 flags, U16 key, U32 wrapper_count)
{
    const char *type = sv_reftype(sv, FALSE);
    char text[80];
    PERL_UNUSED_VAR(rv);
    if (!w->settings->forgive_me)
        croak("Can't store %s items", type);
    warn("Can't store item %s(0x%" UVxf ")", type, PTR2UV(sv));
    my_snprintf(text, sizeof text, "You lost %s(0x%" UVxf ")", type, PTR2UV(sv));
    iw_push(aTHX_ w, ICECORE_REF, flags, key, 1, 0);
    iw_push_string(aTHX_ w, ICECORE_BYTES, 0, 0, text, strlen(text));
    iw_end_node(w, (U32)w->tape->node_count - 2, 1, wrapper_count);
}

/* Puts code as its text, if $Deparse is set. */
static void
put_code(pTHX_ iw_walker *w, SV *rv, SV *cv, U8 flags, U16 key, U32 wrapper_count)
{
    SV *text;
    STRLEN len;
    const char *pv;
    if (!w->settings->deparse) {
        put_unknown(aTHX_ w, rv, cv, flags, key, wrapper_count);
        return;
    }
    iw_protect_frames(aTHX_ w);
    {
        SV *code = newRV_inc(cv);
        AV *result;
        ice_keep_for_call(aTHX_ w->ctx, code);
        result = ice_call_list(aTHX_ (SV *)get_cv("Icecore::_deparse", GV_ADD), &code, 1);
        ice_keep_for_call(aTHX_ w->ctx, (SV *)result);
        text = AvFILLp(result) >= 0 ? AvARRAY(result)[0] : &PL_sv_undef;
    }
    pv = SvPV(text, len);
    if (len == 0 || pv[len - 1] == ';')
        croak(
            "The result of B::Deparse::coderef2text was empty - maybe you're trying to serialize an XS function?\n");
    iw_push(aTHX_ w, ICECORE_CODE, flags, key, 1, 0);
    iw_push_string(aTHX_ w, SvUTF8(text) ? ICECORE_TEXT : ICECORE_BYTES, 0, 0, pv, len);
    iw_end_node(w, (U32)w->tape->node_count - 2, 1, wrapper_count);
}

static void
croak_too_deep(pTHX_ const iw_walker *w)
{
    PERL_UNUSED_VAR(w);
    croak("Max. recursion depth with nested structures exceeded");
}

const iw_rules ice_storable_rules = {
    .format_flags = IW_FORMAT,
    .put = iw_put,
    .put_fast = put_fast,
    .push_scalar = push_scalar,
    .put_immortal = put_immortal,
    .find_hook = find_hook,
    .put_hooked = put_hooked,
    .put_magical = put_magical,
    .put_code = put_code,
    .put_unknown = put_unknown,
    .croak_too_deep = croak_too_deep,
};
