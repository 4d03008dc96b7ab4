/* Scalars as Cpanel::JSON::XS writes them: it prefers the float, then the integer, then the string. A
 * number that also has a string is a string, unless both have the same text. */
#include "core/leaf.h"
#include "json/cpanel.h"
#include "json/walk.h"

/* Size of a buffer for the text of a number. */
enum { NUMBER_LEN = NV_DIG + 40 };

bool
ij_is_cpanel_boolean(pTHX_ const ice_json *json, HV *stash)
{
    const char *name;
    if (stash == json->boolean_stash)
        return TRUE;
    name = HvNAME_get(stash);
    return name
        && (strEQ(name, "JSON::PP::Boolean") || strEQ(name, "JSON::XS::Boolean") || strEQ(name, "Mojo::JSON::_Bool"));
}

static void
push_string(pTHX_ iw_walker *w, U16 key, const char *text, STRLEN len, bool is_utf8)
{
    iw_push_string(aTHX_ w, is_utf8 ? ICECORE_TEXT : ICECORE_BYTES, 0, key, text, len);
}

/* Puts the text of a number without quotes. */
static void
push_number(pTHX_ iw_walker *w, U16 key, const char *text, STRLEN len)
{
    iw_push_string(aTHX_ w, ICECORE_SYMBOL, 0, key, text, len);
}

/* Puts a scalar whose public or private flags say that it is a float. */
static void
put_float(pTHX_ iw_walker *w, SV *sv, U16 key)
{
    const NV value = SvNVX(sv);
    const bool is_finite = !Perl_isinf(value) && !Perl_isnan(value);
    char text[NUMBER_LEN];
    if (SvPOKp(sv)) {
        if (is_finite)
            (void)Gconvert(value, NV_DIG, 0, text);
        if (!is_finite || strNE(text, SvPVX_const(sv))) {
            push_string(aTHX_ w, key, SvPVX_const(sv), SvCUR(sv), cBOOL(SvUTF8(sv)));
            return;
        }
    }
    if (is_finite && SvIOK(sv)) { /* it gets no point */
        (void)Gconvert(value, NV_DIG, 0, text);
        push_number(aTHX_ w, key, text, strlen(text));
    } else
        iw_push_float(aTHX_ w, value, 0, key);
}

void
ij_put_unknown(pTHX_ iw_walker *w, SV *sv, U16 key)
{
    if (!(w->settings->json->flags & J_ALLOW_UNKNOWN))
        croak("encountered perl type (%s,0x%x) that JSON cannot handle, check your input data", SvPV_nolen(sv),
              (unsigned)SvFLAGS(sv));
    iw_push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
}

void
ij_put_cpanel_scalar(pTHX_ iw_walker *w, SV *sv, U16 key)
{
    const U32 flags = SvFLAGS(sv);
    if (sv == &PL_sv_yes || sv == &PL_sv_no)
        iw_push(aTHX_ w, ICECORE_BOOL, 0, key, 0, sv == &PL_sv_yes);
    else if (flags & SVp_NOK)
        put_float(aTHX_ w, sv, key);
    else if (flags & SVp_IOK) {
        if (flags & SVp_POK) {
            char text[NUMBER_LEN];
            if (SvIsUV(sv))
                my_snprintf(text, sizeof text, "%" UVuf, SvUVX(sv));
            else
                my_snprintf(text, sizeof text, "%" IVdf, SvIVX(sv));
            if (strNE(text, SvPVX_const(sv))) {
                push_string(aTHX_ w, key, SvPVX_const(sv), SvCUR(sv), cBOOL(SvUTF8(sv)));
                return;
            }
        }
        iw_push_int(aTHX_ w, sv, 0, key);
    } else if (flags & SVp_POK)
        push_string(aTHX_ w, key, SvPVX_const(sv), SvCUR(sv), cBOOL(SvUTF8(sv)));
    else if (!SvOK(sv))
        iw_push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
    else
        ij_put_unknown(aTHX_ w, sv, key);
}

void
ij_put_text(pTHX_ iw_walker *w, SV *sv, U16 key)
{
    STRLEN len;
    const char *text;
    if (SvPOKp(sv)) {
        push_string(aTHX_ w, key, SvPVX_const(sv), SvCUR(sv), cBOOL(SvUTF8(sv)));
        return;
    }
    iw_protect_frames(aTHX_ w); /* for overloading */
    text = SvPV_nomg(sv, len);
    push_string(aTHX_ w, key, text, len, cBOOL(SvUTF8(sv)));
}

/* ---- numbers that are required ------------------------------------------ */

/* Returns true if a value is an object of one of these classes, and allow_bignum is set. */
static bool
is_allowed_big_number(pTHX_ const iw_walker *w, SV *sv, bool *is_float)
{
    HV *stash;
    if (!(w->settings->json->flags & J_ALLOW_BIGNUM) || !SvROK(sv) || !SvOBJECT(SvRV(sv)))
        return FALSE;
    stash = SvSTASH(SvRV(sv));
    *is_float = stash == gv_stashpvs("Math::BigFloat", 0);
    return *is_float || stash == gv_stashpvs("Math::BigInt", 0);
}

/* Returns the text of a big number, without a plus sign. */
static const char *
big_number_text(pTHX_ SV *sv, STRLEN *len)
{
    const char *text = SvPV_nomg(sv, *len);
    if (*len && *text == '+') {
        ++text;
        --*len;
    }
    return text;
}

/* Returns true if a text says "not a number" or infinity, and stores this value. */
static bool
parse_non_finite(const char *text, NV *value)
{
    if (strEQ(text, "NaN") || strEQ(text, "nan"))
        *value = NV_NAN;
    else if (strEQ(text, "inf") || strEQ(text, "-inf"))
        *value = *text == '-' ? -NV_INF : NV_INF;
    else
        return FALSE;
    return TRUE;
}

/* Puts the text of a float. It gets a point if it has neither a point nor an exponent. */
static void
push_float_text(pTHX_ iw_walker *w, U16 key, const char *text, STRLEN len)
{
    SV *copy = sv_2mortal(newSVpvn(text, len));
    if (!strpbrk(SvPVX(copy), ".eE"))
        sv_catpvs(copy, ".0");
    push_number(aTHX_ w, key, SvPVX(copy), SvCUR(copy));
}

/* Returns a new Math::BigFloat for a text, if allow_bignum is set and the text is a finite number;
 * otherwise NULL. */
static SV *
big_float_of(pTHX_ iw_walker *w, SV *sv)
{
    STRLEN len;
    const char *text;
    int kind;
    if (!(w->settings->json->flags & J_ALLOW_BIGNUM))
        return NULL;
    text = SvPV_nomg(sv, len);
    kind = grok_number(text, len, NULL);
    if (!kind || kind & (IS_NUMBER_INFINITY | IS_NUMBER_NAN))
        return NULL;
    return ij_new_big_number(aTHX_ "Math::BigFloat", sv_2mortal(newSVpvn(text, len)));
}

void
ij_put_as_float(pTHX_ iw_walker *w, SV *sv, U16 key)
{
    char text[NUMBER_LEN];
    bool is_float;
    SV *big = NULL;
    NV value = 0;
    iw_protect_frames(aTHX_ w); /* for overloading, and for methods of big numbers */
    if (is_allowed_big_number(aTHX_ w, sv, &is_float))
        big = sv;
    else if (SvNOKp(sv))
        value = SvNVX(sv);
    else if (!(big = big_float_of(aTHX_ w, sv)))
        value = SvNV_nomg(sv);
    if (big) {
        STRLEN len;
        const char *big_text = big_number_text(aTHX_ big, &len);
        if (!parse_non_finite(big_text, &value)) {
            push_float_text(aTHX_ w, key, big_text, len);
            return;
        }
    }
    if (Perl_isinf(value))
        value = value > 0 ? NV_MAX : -NV_MAX;
    if (Perl_isnan(value))
        value = 0;
    (void)Gconvert(value, NV_DIG, 0, text);
    push_float_text(aTHX_ w, key, text, strlen(text));
}

/* Puts a big number without its fraction. */
static void
put_big_int(pTHX_ iw_walker *w, SV *big, bool is_float, U16 key)
{
    STRLEN len;
    const char *text;
    NV value;
    if (is_float) {
        /* These methods exist in all versions of Math::BigFloat, and lose no digits. */
        HV *stash = SvSTASH(SvRV(big));
        CV *is_negative = ice_find_method(aTHX_ stash, "is_negative"), *round;
        bool rounds_up;
        if (!is_negative)
            croak("Icecore: Math::BigFloat has no method is_negative");
        rounds_up = SvTRUE(ice_call_scalar(aTHX_ (SV *)is_negative, &big, 1));
        round = ice_find_method(aTHX_ stash, rounds_up ? "bceil" : "bfloor");
        if (!round)
            croak("Icecore: Math::BigFloat has no method %s", rounds_up ? "bceil" : "bfloor");
        big = ice_call_scalar(aTHX_ (SV *)round, &big, 1);
        ice_keep_for_call(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(big));
    }
    text = big_number_text(aTHX_ big, &len);
    if (!parse_non_finite(text, &value))
        push_number(aTHX_ w, key, text, len);
    else if (Perl_isnan(value))
        iw_push(aTHX_ w, ICECORE_INT, 0, key, 0, 0);
    else if (value > 0)
        iw_push(aTHX_ w, ICECORE_UINT, 0, key, 0, (U64)UV_MAX);
    else
        iw_push(aTHX_ w, ICECORE_INT, 0, key, 0, (U64)(I64)IV_MIN);
}

/* Puts the integer that a string contains. Returns false if perl has to convert it. */
static bool
put_string_as_int(pTHX_ iw_walker *w, SV *sv, U16 key)
{
    UV value = 0;
    int kind = grok_number(SvPVX_const(sv), SvCUR(sv), &value);
    const bool is_negative = (kind & IS_NUMBER_NEG) != 0;
    if (kind & IS_NUMBER_IN_UV && is_negative && value > (UV)IV_MAX + 1)
        kind |= IS_NUMBER_GREATER_THAN_UV_MAX;
    if (w->settings->json->flags & J_ALLOW_BIGNUM && kind & (IS_NUMBER_GREATER_THAN_UV_MAX | IS_NUMBER_NOT_INT)) {
        const bool is_float = (kind & IS_NUMBER_NOT_INT) != 0;
        SV *text = sv_2mortal(newSVpvn(SvPVX_const(sv), SvCUR(sv)));
        put_big_int(aTHX_ w, ij_new_big_number(aTHX_ is_float ? "Math::BigFloat" : "Math::BigInt", text), is_float,
                    key);
        return TRUE;
    }
    if (!(kind & (IS_NUMBER_IN_UV | IS_NUMBER_INFINITY | IS_NUMBER_NAN)))
        return FALSE;
    if (kind & IS_NUMBER_INFINITY)
        value = UV_MAX;
    else if (!(kind & IS_NUMBER_IN_UV))
        value = 0;
    if (!is_negative)
        iw_push(aTHX_ w, value > (UV)IV_MAX ? ICECORE_UINT : ICECORE_INT, 0, key, 0, (U64)value);
    else
        iw_push(aTHX_ w, ICECORE_INT, 0, key, 0, value > (UV)IV_MAX ? (U64)(I64)IV_MIN : (U64) - (I64)value);
    return TRUE;
}

void
ij_put_as_int(pTHX_ iw_walker *w, SV *sv, U16 key)
{
    bool is_float;
    iw_protect_frames(aTHX_ w); /* for overloading, and for methods of big numbers */
    if (is_allowed_big_number(aTHX_ w, sv, &is_float)) {
        put_big_int(aTHX_ w, sv, is_float, key);
        return;
    }
    if (!SvIOK(sv)) {
        IV value;
        if (SvPOKp(sv) && put_string_as_int(aTHX_ w, sv, key))
            return;
        value = SvIV_nomg(sv);
        if (SvIsUV(sv))
            value = (IV)SvUV_nomg(sv);
        iw_push(aTHX_ w, SvIsUV(sv) && value < 0 ? ICECORE_UINT : ICECORE_INT, 0, key, 0, (U64)(I64)value);
        return;
    }
    iw_push_int(aTHX_ w, sv, 0, key);
}
