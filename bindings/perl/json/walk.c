/* The JSON nodes of references and objects: as in JSON::XS, which ignores whether a
 * value was met before. */
#include "core/leaf.h"
#include "json/json.h"

/* JSON::XS prefers the string, then the float, then the integer. */
static void
leaf(pTHX_ iw_walk *w, SV *sv, U8 flags, U16 key, bool item)
{
    const U32 f = SvFLAGS(sv);
    PERL_UNUSED_VAR(item);
    if (f & SVf_POK)
        push_string(aTHX_ w, f & SVf_UTF8 ? ICECORE_TEXT : ICECORE_BYTES, flags, key, SvPVX_const(sv), SvCUR(sv));
    else if (f & SVp_POK)
        push_pv(aTHX_ w, sv, flags, key);
    else if (f & SVp_NOK)
        push_float(aTHX_ w, SvNVX(sv), flags, key);
    else if (f & SVp_IOK)
        push_int(aTHX_ w, sv, flags, key);
    else
        push(aTHX_ w, ICECORE_NULL, flags, key, 0, 0);
}

PERL_STATIC_INLINE bool
put_boolean(pTHX_ iw_walk *w, SV *sv, U16 key)
{
    if (!(SvOBJECT(sv) && SvSTASH(sv) == w->set->json->boolean_stash && SvIOK(sv)))
        return FALSE;
    push(aTHX_ w, ICECORE_BOOL, 0, key, 0, SvIVX(sv) != 0);
    return TRUE;
}

#define FACTS (IW_IN_ORDER | IW_EXACT_DEPTH | IW_TREE)
#define LEAF leaf
#define PUT_BOOLEAN put_boolean
#include "core/walk_fast.h"

/* ---- references -------------------------------------------------------- */

/* Puts the result of FREEZE, after the name of the class. */
static void
put_tagged(pTHX_ iw_walk *w, SV *sv, CV *method, U16 key)
{
    const U32 id = iw_class_of(aTHX_ w, SvSTASH(sv))->id;
    SV *arguments[2];
    AV *list;
    SSize_t i;
    U32 at;
    ice_keep(aTHX_ w->ctx, arguments[0] = newRV_inc(sv));
    ice_keep(aTHX_ w->ctx, arguments[1] = newSVpvs("JSON"));
    iw_pin(aTHX_ w);
    list = ice_call_list(aTHX_ (SV *)method, arguments, 2);
    ice_keep(aTHX_ w->ctx, (SV *)list);
    w->last_stash = NULL;
    for (i = 0; i <= AvFILLp(list); i++)
        if (SvROK(AvARRAY(list)[i]) && SvRV(AvARRAY(list)[i]) == sv)
            croak("%s::FREEZE method returned same object as was passed instead of a new one", HvNAME_get(SvSTASH(sv)));
    push(aTHX_ w, ICECORE_OPAQUE, 0, key, 1, ICE_CLASS(id) | ICE_FORM(ICECORE_FORM_FREEZE));
    at = push(aTHX_ w, ICECORE_ARRAY, 0, 0, 0, 0);
    iw_push_frame(aTHX_ w, IW_ARRAY, at, 1, (SV *)list)->count = AvFILLp(list) + 1;
}

static SV *
converted(pTHX_ iw_walk *w, SV *sv, CV *method)
{
    SV *argument = newRV_inc(sv), *result;
    ice_keep(aTHX_ w->ctx, argument);
    iw_pin(aTHX_ w);
    result = ice_call_scalar(aTHX_ (SV *)method, &argument, 1);
    ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(result));
    w->last_stash = NULL;
    if (SvROK(result) && SvRV(result) == sv)
        croak("%s::TO_JSON method returned same object as was passed instead of a new one", HvNAME_get(SvSTASH(sv)));
    return result;
}

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

/* Puts a number of any size: its digits are written unchanged. */
static void
put_big_number(pTHX_ iw_walk *w, SV *rv, U16 key)
{
    STRLEN len;
    const char *text;
    iw_pin(aTHX_ w);
    text = SvPV(rv, len);
    if (len && *text == '+') {
        text++;
        len--;
    }
    if (memEQs(text, len, "NaN"))
        push_float(aTHX_ w, NV_NAN, 0, key);
    else if (memEQs(text, len, "inf") || memEQs(text, len, "-inf"))
        push_float(aTHX_ w, *text == '-' ? -NV_INF : NV_INF, 0, key);
    else
        push_string(aTHX_ w, ICECORE_SYMBOL, 0, key, text, len);
}

/* Puts a reference as a string, or its target. */
static void
put_as_string(pTHX_ iw_walk *w, SV *sv, U16 key)
{
    STRLEN len;
    const char *text;
    SV *copy = sv_2mortal(newSVpvs(""));
    iw_pin(aTHX_ w);
    sv_copypv(copy, sv);
    text = SvPV(copy, len);
    if (len)
        push_string(aTHX_ w, SvUTF8(copy) ? ICECORE_TEXT : ICECORE_BYTES, 0, key, text, len);
    else
        push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
}

/* Puts an object. Returns the value that replaces it; NULL if it was put. */
static SV *
put_object(pTHX_ iw_walk *w, SV *rv, SV *sv, U16 key)
{
    const ice_json *json = w->set->json;
    HV *stash = SvSTASH(sv);
    CV *method;
    if (is_boolean_class(aTHX_ json, stash)) {
        if (SvGMAGICAL(sv))
            iw_get_magic(aTHX_ w, sv); /* for example of a variable that threads share */
        push(aTHX_ w, ICECORE_BOOL, 0, key, 0, SvIV_nomg(sv) != 0);
        return NULL;
    }
    if (json->flags & J_ALLOW_TAGS && (method = ice_method(aTHX_ stash, "FREEZE"))) {
        put_tagged(aTHX_ w, sv, method, key);
        return NULL;
    }
    if (json->flags & J_CONVERT_BLESSED && (method = ice_method(aTHX_ stash, "TO_JSON")))
        return converted(aTHX_ w, sv, method);
    if (json->flags & J_ALLOW_BIGNUM && ij_is_big_number(aTHX_ rv)) {
        put_big_number(aTHX_ w, rv, key);
        return NULL;
    }
    if (json->flags & J_ALLOW_STRINGIFY && Gv_AMG(stash)) {
        put_as_string(aTHX_ w, rv, key);
        return NULL;
    }
    if ((json->flags & (J_ALLOW_STRINGIFY | J_CONVERT_BLESSED)) == (J_ALLOW_STRINGIFY | J_CONVERT_BLESSED)) {
        /* Values that are not strings become null. */
        if (SvTYPE(sv) < SVt_PVAV && !isGV_with_GP(sv))
            put_as_string(aTHX_ w, sv, key);
        else
            push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
        return NULL;
    }
    if (!(json->flags & J_ALLOW_BLESSED))
        croak("encountered object '%" SVf "', but neither allow_blessed, convert_blessed nor allow_tags settings are "
              "enabled (or TO_JSON/FREEZE method missing)", SVfARG(rv));
    push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
    return NULL;
}

/* Returns the meaning of a reference to this scalar: 1 for true, 0 for false, -1 for
 * neither. */
int
ij_word_of(pTHX_ SV *sv)
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

/* Whether a value at this depth contains itself. Checked only at some depths: a value
 * that does is found later, in its next round. */
static bool
contains_itself(const iw_walk *w, const SV *sv)
{
    enum { DEEP = 1024 };
    const U32 depth = w->ctx->depth;
    U32 i;
    if (depth < DEEP || depth & (depth - 1))
        return FALSE;
    for (i = 0; i < depth; i++)
        if (w->ctx->frames[i].walk.sv == sv || w->ctx->frames[i].walk.other == sv)
            return TRUE;
    return FALSE;
}

/* Puts any value. */
static void
put(pTHX_ iw_walk *w, SV *sv, U16 key, bool item, bool remember)
{
    const ice_json *json = w->set->json;
    UV conversions = 0;
    PERL_UNUSED_VAR(remember);
    for (;;) {
        SV *referent;
        if (SvGMAGICAL(sv))
            iw_get_magic(aTHX_ w, sv);
        if (!SvROK(sv)) {
            if (SvOK(sv) && !(SvFLAGS(sv) & (SVp_POK | SVp_NOK | SVp_IOK)) && !(json->flags & J_ALLOW_UNKNOWN))
                croak("encountered perl type (%" SVf ",0x%x) that JSON cannot handle, check your input data",
                      SVfARG(sv), (unsigned)SvFLAGS(sv));
            leaf(aTHX_ w, sv, 0, key, item);
            return;
        }
        referent = SvRV(sv);
        if (SvOBJECT(referent)) {
            sv = put_object(aTHX_ w, sv, referent, key);
            if (!sv)
                return;
            if (++conversions > json->max_depth)
                croak(IJ_TOO_DEEP);
            continue;
        }
        if ((SvTYPE(referent) == SVt_PVAV || SvTYPE(referent) == SVt_PVHV) && w->ctx->depth >= json->max_depth)
            croak(IJ_TOO_DEEP);
        if (contains_itself(w, referent))
            croak(IJ_TOO_DEEP ": it contains itself");
        switch (SvTYPE(referent)) {
        case SVt_PVAV:
            iw_open_array(aTHX_ w, push(aTHX_ w, ICECORE_ARRAY, 0, key, 0, 0), 0, (AV *)referent);
            return;
        case SVt_PVHV:
            iw_open_hash(aTHX_ w, push(aTHX_ w, ICECORE_MAP, 0, key, 0, 0), 0, (HV *)referent);
            return;
        default: {
            int word;
            if (SvTYPE(referent) < SVt_PVAV && SvGMAGICAL(referent))
                iw_get_magic(aTHX_ w, referent);
            word = ij_word_of(aTHX_ referent);
            if (word >= 0)
                push(aTHX_ w, ICECORE_BOOL, 0, key, 0, (U64)word);
            else if (json->flags & J_ALLOW_STRINGIFY && SvTYPE(referent) < SVt_PVAV && !isGV_with_GP(referent))
                put_as_string(aTHX_ w, referent, key);
            else if (json->flags & J_ALLOW_UNKNOWN)
                push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
            else if (SvTYPE(referent) < SVt_PVAV)
                croak("cannot encode reference to scalar '%" SVf "' unless the scalar is 0 or 1", SVfARG(sv));
            else
                croak("encountered %" SVf ", but JSON can only represent references to arrays or hashes", SVfARG(sv));
            return;
        }
        }
    }
}

static void
too_deep(pTHX_ const iw_walk *w)
{
    PERL_UNUSED_VAR(w);
    croak(IJ_TOO_DEEP);
}

/* `put` is JSON's own function; the entries that are NULL are used by iw_put only. */
const iw_rules ij_rules = {
    FACTS, put, put_fast, leaf, NULL, NULL, NULL, NULL, NULL, NULL, NULL, too_deep
};
