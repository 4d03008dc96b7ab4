/* The rules of Cpanel::JSON::XS for walking values. */
#include "core/leaf.h"
#include "json/cpanel.h"
#include "json/walk.h"

static void put(pTHX_ iw_walker *w, SV *sv, U16 key, bool is_item, bool may_repeat);

static void
push_scalar(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key, bool is_item)
{
    PERL_UNUSED_VAR(flags);
    if (UNLIKELY(w->settings->types != NULL))
        put(aTHX_ w, sv, key, is_item, FALSE);
    else
        ij_put_cpanel_scalar(aTHX_ w, sv, key);
}

/* See IW_PUT_BOOLEAN in walk_fast.h. */
PERL_STATIC_INLINE bool
put_boolean(pTHX_ iw_walker *w, SV *sv, U16 key)
{
    if (!(SvOBJECT(sv) && SvSTASH(sv) == w->settings->json->boolean_stash && SvIOK(sv)))
        return FALSE;
    iw_push(aTHX_ w, ICECORE_BOOL, 0, key, 0, SvIVX(sv) != 0);
    return TRUE;
}

#define IW_FORMAT (IW_PERL_ORDER | IW_EXACT_DEPTH | IW_TREE | IW_BLESS_IS_NO_LEVEL)
#define IW_PUSH_SCALAR push_scalar
#define IW_PUT_BOOLEAN put_boolean
#include "core/walk_fast.h"

/* put_fast, unless values have types. */
static bool
put_fast_untyped(pTHX_ iw_walker *w, SV *rv, U16 key, int levels, bool is_root)
{
    return LIKELY(!w->settings->types) && put_fast(aTHX_ w, rv, key, levels, is_root);
}

/* Puts the text of a value in quotes, or null if it is empty. */
static void
put_text_or_null(pTHX_ iw_walker *w, SV *sv, U16 key)
{
    SV *copy = newSVpvs("");
    ice_keep_for_call(aTHX_ w->ctx, copy);
    ice_keep_for_call(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(sv)); /* overloading may free it */
    iw_protect_frames(aTHX_ w);
    sv_copypv(copy, sv);
    if (SvCUR(copy))
        ij_put_text(aTHX_ w, copy, key);
    else
        iw_push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
}

/* Puts an object that has neither FREEZE nor TO_JSON, as convert_blessed does: its string. */
static void
put_stringified(pTHX_ iw_walker *w, SV *rv, SV *sv, U16 key)
{
    const U32 flags = w->settings->json->flags;
    const bool is_overloaded = HvAMAGIC(SvSTASH(sv)) != 0;
    if (!is_overloaded && !(flags & J_ALLOW_STRINGIFY)) {
        if (!(flags & J_ALLOW_BLESSED))
            croak("encountered object '%s', but allow_blessed, allow_stringify or TO_JSON/FREEZE method missing",
                  SvPV_nolen(rv));
    } else if (SvTYPE(sv) != SVt_PVAV && SvTYPE(sv) != SVt_PVHV && SvTYPE(sv) != SVt_PVFM) {
        put_text_or_null(aTHX_ w, flags & J_ALLOW_STRINGIFY ? sv : rv, key);
        return;
    } else if (is_overloaded) {
        SV *text;
        iw_protect_frames(aTHX_ w);
        ice_keep_for_call(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(rv));
        text = AMG_CALLunary(rv, string_amg);
        if (text && SvPOK(text)) {
            ij_put_text(aTHX_ w, text, key);
            return;
        }
    }
    iw_push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
}

/* Puts an object of Math::BigInt or Math::BigFloat without quotes. */
static void
put_big_number(pTHX_ iw_walker *w, SV *rv, U16 key)
{
    STRLEN len;
    const char *text;
    bool is_nan;
    iw_protect_frames(aTHX_ w);
    ice_keep_for_call(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(rv));
    text = SvPV(rv, len);
    if (len && *text == '+') {
        text++;
        len--;
    }
    /* These words get no quotes, whatever stringify_infnan says, unless it says null. */
    is_nan = memEQs(text, len, "NaN") || memEQs(text, len, "nan");
    if (!len || ((is_nan || memEQs(text, len, "inf") || memEQs(text, len, "-inf")) && !w->settings->json->inf_nan))
        iw_push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
    else if (is_nan && w->settings->json->inf_nan == 3)
        iw_push_string(aTHX_ w, ICECORE_SYMBOL, 0, key, "nan", 3);
    else
        iw_push_string(aTHX_ w, ICECORE_SYMBOL, 0, key, text, len);
}

/* Puts an object. Returns NULL, or a value that has to be put instead. */
static SV *
put_object(pTHX_ iw_walker *w, SV *rv, SV *sv, U16 key)
{
    const ice_json *json = w->settings->json;
    HV *stash = SvSTASH(sv);
    CV *method;
    if (ij_is_cpanel_boolean(aTHX_ json, stash)) {
        if (SvGMAGICAL(sv))
            iw_get_magic(aTHX_ w, sv); /* for example of a variable that threads share */
        iw_push(aTHX_ w, ICECORE_BOOL, 0, key, 0, SvIV_nomg(sv) != 0);
    } else if (json->flags & J_ALLOW_TAGS && (method = ice_find_method(aTHX_ stash, "FREEZE"))) {
        ij_put_freeze_result(aTHX_ w, sv, method, key);
        ij_clear_type(aTHX_ w);
    } else if (json->flags & J_CONVERT_BLESSED && (method = ice_find_method(aTHX_ stash, "TO_JSON")))
        return ij_call_to_json(aTHX_ w, sv, method);
    else if (json->flags & J_ALLOW_BIGNUM
             && (stash == gv_stashpvs("Math::BigInt", 0) || stash == gv_stashpvs("Math::BigFloat", 0)))
        put_big_number(aTHX_ w, rv, key);
    else if (json->flags & J_CONVERT_BLESSED)
        put_stringified(aTHX_ w, rv, sv, key);
    else if (json->flags & J_ALLOW_BLESSED)
        iw_push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
    else
        croak("encountered object '%s', but neither allow_blessed, convert_blessed nor allow_tags settings are "
              "enabled (or TO_JSON/FREEZE method missing)",
              SvPV_nolen(rv));
    return NULL;
}

/* Puts a reference to anything but an array, a hash or an object. */
static void
put_reference(pTHX_ iw_walker *w, SV *rv, SV *referent, U16 key)
{
    const U32 flags = w->settings->json->flags;
    if (SvTYPE(referent) < SVt_PVAV && SvTYPE(referent) != SVt_PVGV) {
        int truth;
        if (SvGMAGICAL(referent))
            iw_get_magic(aTHX_ w, referent);
        truth = ij_boolean_of(aTHX_ referent);
        if (truth >= 0) {
            iw_push(aTHX_ w, ICECORE_BOOL, 0, key, 0, (U64)truth);
            return;
        }
        if (flags & J_ALLOW_STRINGIFY) {
            put_text_or_null(aTHX_ w, referent, key);
            return;
        }
        if (!(flags & J_ALLOW_UNKNOWN))
            croak("cannot encode reference to scalar '%s' unless the scalar is 0 or 1", SvPV_nolen(rv));
    } else if (!(flags & J_ALLOW_UNKNOWN))
        croak("encountered %s, but JSON can only represent references to arrays or hashes", SvPV_nolen(rv));
    iw_push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
}

/* Opens the array or hash that a reference leads to. */
static void
open_container(pTHX_ iw_walker *w, SV *referent, U16 key, SV *type)
{
    if (w->ctx->depth >= w->settings->json->max_depth)
        croak(IJ_MAX_DEPTH_MESSAGE);
    if (ij_contains_itself(w, referent))
        croak(IJ_MAX_DEPTH_MESSAGE ": it contains itself");
    ij_open_typed(aTHX_ w, referent, key, type);
}

/* Returns the type of a value, with its magic called. Perl code may run before the type is used, and may free it and
 * the value. */
static SV *
safe_type(pTHX_ iw_walker *w, SV *sv, SV *type)
{
    const bool is_object = SvROK(sv) && SvOBJECT(SvRV(sv));
    if (is_object)
        ice_keep_for_call(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(sv));
    if (!type || !(SvGMAGICAL(sv) || SvGMAGICAL(type) || is_object))
        return type;
    iw_protect_frames(aTHX_ w);
    type = newSVsv(type);
    ice_keep_for_call(aTHX_ w->ctx, type);
    return type;
}

static void
put(pTHX_ iw_walker *w, SV *sv, U16 key, bool is_item, bool may_repeat)
{
    const ice_json *json = w->settings->json;
    const bool has_types = w->settings->types != NULL;
    SV *type = has_types ? safe_type(aTHX_ w, sv, ij_type_of_child(aTHX_ w, key)) : NULL;
    UV conversions = 0;
    PERL_UNUSED_VAR(is_item);
    PERL_UNUSED_VAR(may_repeat);
    for (;;) {
        if (SvGMAGICAL(sv))
            iw_get_magic(aTHX_ w, sv);
        if (has_types && !(type && SvOK(type))
            && (json->flags & (J_REQUIRE_TYPES | J_TYPE_ALL_STRING)) == J_REQUIRE_TYPES)
            croak("type for '%s' was not specified", SvPV_nolen(sv));
        if (SvROK(sv) && !SvOBJECT(SvRV(sv)) && (SvTYPE(SvRV(sv)) == SVt_PVHV || SvTYPE(SvRV(sv)) == SVt_PVAV)) {
            open_container(aTHX_ w, SvRV(sv), key, type);
            return;
        }
        if (has_types && ij_put_by_type(aTHX_ w, sv, key, type))
            return;
        if (!SvROK(sv)) {
            ij_put_cpanel_scalar(aTHX_ w, sv, key);
            return;
        }
        if (!SvOBJECT(SvRV(sv))) {
            put_reference(aTHX_ w, sv, SvRV(sv), key);
            return;
        }
        sv = put_object(aTHX_ w, sv, SvRV(sv), key);
        if (!sv)
            return;
        type = NULL;
        /* TO_JSON may always return another object, so the conversions are counted. */
        if (++conversions > json->max_depth)
            croak(IJ_MAX_DEPTH_MESSAGE);
    }
}

/* JSON has a `put` of its own. The functions that are missing are only called by iw_put. */
const iw_rules ij_cpanel_rules = {
    .format_flags = IW_FORMAT,
    .put = put,
    .put_fast = put_fast_untyped,
    .push_scalar = push_scalar,
    .croak_too_deep = ij_croak_too_deep,
};
