/* The rules of JSON for walking values. As in JSON::XS, a value that is met twice is written
 * twice. */
#include "core/leaf.h"
#include "json/walk.h"

/* JSON::XS prefers the string, then the float, then the integer. */
static void
push_scalar(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key, bool is_item)
{
    const U32 sv_flags = SvFLAGS(sv);
    PERL_UNUSED_VAR(is_item);
    if (sv_flags & SVf_POK)
        iw_push_string(aTHX_ w, sv_flags & SVf_UTF8 ? ICECORE_TEXT : ICECORE_BYTES, flags, key, SvPVX_const(sv),
                       SvCUR(sv));
    else if (sv_flags & SVp_POK)
        iw_push_pv(aTHX_ w, sv, flags, key);
    else if (sv_flags & SVp_NOK)
        iw_push_float(aTHX_ w, SvNVX(sv), flags, key);
    else if (sv_flags & SVp_IOK)
        iw_push_int(aTHX_ w, sv, flags, key);
    else
        iw_push(aTHX_ w, ICECORE_NULL, flags, key, 0, 0);
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

#define IW_FORMAT (IW_PERL_ORDER | IW_EXACT_DEPTH | IW_TREE)
#define IW_PUSH_SCALAR push_scalar
#define IW_PUT_BOOLEAN put_boolean
#include "core/walk_fast.h"

/* ---- references -------------------------------------------------------- */

void
ij_put_freeze_result(pTHX_ iw_walker *w, SV *sv, CV *method, U16 key)
{
    const U32 id = iw_class_of(aTHX_ w, SvSTASH(sv))->id;
    SV *arguments[2];
    AV *list;
    SSize_t i;
    U32 node;
    ice_keep_for_call(aTHX_ w->ctx, arguments[0] = newRV_inc(sv));
    ice_keep_for_call(aTHX_ w->ctx, arguments[1] = newSVpvs("JSON"));
    iw_protect_frames(aTHX_ w);
    list = ice_call_list(aTHX_ (SV *)method, arguments, 2);
    ice_keep_for_call(aTHX_ w->ctx, (SV *)list);
    w->last_stash = NULL;
    for (i = 0; i <= AvFILLp(list); i++)
        if (SvROK(AvARRAY(list)[i]) && SvRV(AvARRAY(list)[i]) == sv)
            croak("%s::FREEZE method returned same object as was passed instead of a new one",
                  HvNAME_get(SvSTASH(sv)));
    iw_push(aTHX_ w, ICECORE_OPAQUE, 0, key, 1, ICE_CLASS(id) | ICE_FORM(ICECORE_FORM_FREEZE));
    node = iw_push(aTHX_ w, ICECORE_ARRAY, 0, 0, 0, 0);
    iw_push_frame(aTHX_ w, IW_ARRAY, node, 1, (SV *)list)->count = AvFILLp(list) + 1;
}

SV *
ij_call_to_json(pTHX_ iw_walker *w, SV *sv, CV *method)
{
    SV *argument = newRV_inc(sv), *result;
    ice_keep_for_call(aTHX_ w->ctx, argument);
    iw_protect_frames(aTHX_ w);
    result = ice_call_scalar(aTHX_ (SV *)method, &argument, 1);
    ice_keep_for_call(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(result));
    w->last_stash = NULL;
    if (SvROK(result) && SvRV(result) == sv)
        croak("%s::TO_JSON method returned same object as was passed instead of a new one", HvNAME_get(SvSTASH(sv)));
    return result;
}

/* Returns true for the classes of booleans. */
static bool
is_boolean_class(pTHX_ const ice_json *json, HV *stash)
{
    const char *name;
    if (stash == json->boolean_stash)
        return TRUE;
    name = HvNAME_get(stash);
    return name && (strEQ(name, "JSON::PP::Boolean") || strEQ(name, "Types::Serialiser::Boolean"));
}

bool
ij_is_big_number(pTHX_ SV *rv)
{
    return sv_derived_from(rv, "Math::BigInt") || sv_derived_from(rv, "Math::BigFloat");
}

/* Puts a number of any size. Its digits are written unchanged. */
static void
put_big_number(pTHX_ iw_walker *w, SV *rv, U16 key)
{
    STRLEN len;
    const char *text;
    iw_protect_frames(aTHX_ w);
    text = SvPV(rv, len);
    if (len && *text == '+') {
        text++;
        len--;
    }
    if (memEQs(text, len, "NaN"))
        iw_push_float(aTHX_ w, NV_NAN, 0, key);
    else if (memEQs(text, len, "inf") || memEQs(text, len, "-inf"))
        iw_push_float(aTHX_ w, *text == '-' ? -NV_INF : NV_INF, 0, key);
    else
        iw_push_string(aTHX_ w, ICECORE_SYMBOL, 0, key, text, len);
}

/* Puts a value as a string, or as null if the string is empty. */
static void
put_as_string(pTHX_ iw_walker *w, SV *sv, U16 key)
{
    STRLEN len;
    const char *text;
    SV *copy = sv_2mortal(newSVpvs(""));
    iw_protect_frames(aTHX_ w);
    sv_copypv(copy, sv);
    text = SvPV(copy, len);
    if (len)
        iw_push_string(aTHX_ w, SvUTF8(copy) ? ICECORE_TEXT : ICECORE_BYTES, 0, key, text, len);
    else
        iw_push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
}

/* Puts an object. Returns NULL, or a value that has to be put instead. */
static SV *
put_object(pTHX_ iw_walker *w, SV *rv, SV *sv, U16 key)
{
    const ice_json *json = w->settings->json;
    HV *stash = SvSTASH(sv);
    CV *method;
    if (is_boolean_class(aTHX_ json, stash)) {
        if (SvGMAGICAL(sv))
            iw_get_magic(aTHX_ w, sv); /* for example of a variable that threads share */
        iw_push(aTHX_ w, ICECORE_BOOL, 0, key, 0, SvIV_nomg(sv) != 0);
        return NULL;
    }
    if (json->flags & J_ALLOW_TAGS && (method = ice_find_method(aTHX_ stash, "FREEZE"))) {
        ij_put_freeze_result(aTHX_ w, sv, method, key);
        return NULL;
    }
    if (json->flags & J_CONVERT_BLESSED && (method = ice_find_method(aTHX_ stash, "TO_JSON")))
        return ij_call_to_json(aTHX_ w, sv, method);
    if (json->flags & J_ALLOW_BIGNUM && ij_is_big_number(aTHX_ rv)) {
        put_big_number(aTHX_ w, rv, key);
        return NULL;
    }
    if (json->flags & J_ALLOW_STRINGIFY && Gv_AMG(stash)) {
        put_as_string(aTHX_ w, rv, key);
        return NULL;
    }
    if ((json->flags & (J_ALLOW_STRINGIFY | J_CONVERT_BLESSED)) == (J_ALLOW_STRINGIFY | J_CONVERT_BLESSED)) {
        /* Only scalars become strings. All others become null. */
        if (SvTYPE(sv) < SVt_PVAV && !isGV_with_GP(sv))
            put_as_string(aTHX_ w, sv, key);
        else
            iw_push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
        return NULL;
    }
    if (!(json->flags & J_ALLOW_BLESSED))
        croak("encountered object '%" SVf "', but neither allow_blessed, convert_blessed nor allow_tags settings are "
              "enabled (or TO_JSON/FREEZE method missing)",
              SVfARG(rv));
    iw_push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
    return NULL;
}

int
ij_boolean_of(pTHX_ SV *sv)
{
    STRLEN len;
    const char *text;
    if (SvTYPE(sv) >= SVt_PVAV || SvTYPE(sv) == SVt_NULL || SvROK(sv) || !SvOK(sv) || isGV_with_GP(sv))
        return -1;
    text = SvPV_nomg(sv, len);
    if (len != 1)
        return -1;
    return *text == '1' ? 1 : *text == '0' ? 0 : -1;
}

/* To save time, this is checked only at depths that are a power of two. A value that contains itself
 * reaches every depth, so also one of these. */
bool
ij_contains_itself(const iw_walker *w, const SV *sv)
{
    enum { MIN_DEPTH = 1024 };
    const U32 depth = w->ctx->depth;
    U32 i;
    /* A power of two has only one bit, so no bit is in both numbers. */
    if (depth < MIN_DEPTH || depth & (depth - 1))
        return FALSE;
    for (i = 0; i < depth; i++)
        if (w->ctx->frames[i].walk.sv == sv || w->ctx->frames[i].walk.owner.hash == sv)
            return TRUE;
    return FALSE;
}

/* Puts any value. */
static void
put(pTHX_ iw_walker *w, SV *sv, U16 key, bool is_item, bool may_repeat)
{
    const ice_json *json = w->settings->json;
    UV conversions = 0;
    PERL_UNUSED_VAR(may_repeat);
    for (;;) {
        SV *referent;
        if (SvGMAGICAL(sv))
            iw_get_magic(aTHX_ w, sv);
        if (!SvROK(sv)) {
            if (SvOK(sv) && !(SvFLAGS(sv) & (SVp_POK | SVp_NOK | SVp_IOK)) && !(json->flags & J_ALLOW_UNKNOWN))
                croak("encountered perl type (%" SVf ",0x%x) that JSON cannot handle, check your input data",
                      SVfARG(sv), (unsigned)SvFLAGS(sv));
            push_scalar(aTHX_ w, sv, 0, key, is_item);
            return;
        }
        referent = SvRV(sv);
        if (SvOBJECT(referent)) {
            sv = put_object(aTHX_ w, sv, referent, key);
            if (!sv)
                return;
            /* TO_JSON may always return another object, so the conversions are counted. */
            if (++conversions > json->max_depth)
                croak(IJ_MAX_DEPTH_MESSAGE);
            continue;
        }
        if ((SvTYPE(referent) == SVt_PVAV || SvTYPE(referent) == SVt_PVHV) && w->ctx->depth >= json->max_depth)
            croak(IJ_MAX_DEPTH_MESSAGE);
        if (ij_contains_itself(w, referent))
            croak(IJ_MAX_DEPTH_MESSAGE ": it contains itself");
        switch (SvTYPE(referent)) {
        case SVt_PVAV:
            iw_open_array(aTHX_ w, iw_push(aTHX_ w, ICECORE_ARRAY, 0, key, 0, 0), 0, (AV *)referent);
            return;
        case SVt_PVHV:
            iw_open_hash(aTHX_ w, iw_push(aTHX_ w, ICECORE_MAP, 0, key, 0, 0), 0, (HV *)referent);
            return;
        default: {
            int truth;
            if (SvTYPE(referent) < SVt_PVAV && SvGMAGICAL(referent))
                iw_get_magic(aTHX_ w, referent);
            truth = ij_boolean_of(aTHX_ referent);
            if (truth >= 0)
                iw_push(aTHX_ w, ICECORE_BOOL, 0, key, 0, (U64)truth);
            else if (json->flags & J_ALLOW_STRINGIFY && SvTYPE(referent) < SVt_PVAV && !isGV_with_GP(referent))
                put_as_string(aTHX_ w, referent, key);
            else if (json->flags & J_ALLOW_UNKNOWN)
                iw_push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
            else if (SvTYPE(referent) < SVt_PVAV)
                croak("cannot encode reference to scalar '%" SVf "' unless the scalar is 0 or 1", SVfARG(sv));
            else
                croak("encountered %" SVf ", but JSON can only represent references to arrays or hashes", SVfARG(sv));
            return;
        }
        }
    }
}

void
ij_croak_too_deep(pTHX_ const iw_walker *w)
{
    PERL_UNUSED_VAR(w);
    croak(IJ_MAX_DEPTH_MESSAGE);
}

/* JSON has a `put` of its own. The functions that are missing are only called by iw_put. */
const iw_rules ij_rules = {
    .format_flags = IW_FORMAT,
    .put = put,
    .put_fast = put_fast,
    .push_scalar = push_scalar,
    .croak_too_deep = ij_croak_too_deep,
};
