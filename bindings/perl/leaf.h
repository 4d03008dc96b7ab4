/* Which node a scalar becomes: each format prefers another of the faces that a
 * scalar may have. */
#ifndef ICECORE_LEAF_H
#define ICECORE_LEAF_H
#include "walk.h"

bool iw_is_integer_text(pTHX_ SV *sv);
bool iw_is_float_text(pTHX_ SV *sv);

PERL_STATIC_INLINE void
push_int(pTHX_ walk *w, SV *sv, U8 flags, U16 key)
{
    if (SvIsUV(sv) && SvUVX(sv) > (UV)IV_MAX)
        push(aTHX_ w, ICECORE_UINT, flags, key, 0, (U64)SvUVX(sv));
    else
        push(aTHX_ w, ICECORE_INT, flags, key, 0, (U64)(I64)SvIVX(sv));
}

PERL_STATIC_INLINE void
push_float(pTHX_ walk *w, NV value, U8 flags, U16 key)
{
    U64 bits;
    double number = (double)value;
    memcpy(&bits, &number, 8);
    push(aTHX_ w, ICECORE_FLOAT, flags, key, 0, bits);
}

PERL_STATIC_INLINE void
push_pv(pTHX_ walk *w, SV *sv, U8 flags, U16 key)
{
    STRLEN len;
    const char *text = SvPV_nomg(sv, len);
    push_string(aTHX_ w, SvUTF8(sv) ? ICECORE_TEXT : ICECORE_BYTES, flags, key, text, len);
}

/* Storable prefers the string, then the integer, then the float. */
PERL_STATIC_INLINE void
storable_leaf(pTHX_ walk *w, SV *sv, U8 flags, U16 key, bool item)
{
    const U32 f = SvFLAGS(sv);
    if (f & SVf_POK) {
        if (UNLIKELY(SvREADONLY(sv) && (sv == &PL_sv_yes || sv == &PL_sv_no)))
            push(aTHX_ w, ICECORE_BOOL, flags | ICECORE_BIT_4, key, 0, sv == &PL_sv_yes);
#if PERL_VERSION_GE(5, 37, 0)
        else if (UNLIKELY(SvIsBOOL(sv) && !SvREADONLY(sv)))
            push(aTHX_ w, ICECORE_BOOL, flags | ICECORE_BIT_5, key, 0, SvTRUE_nomg_NN(sv));
#endif
        else
            push_string(aTHX_ w, f & SVf_UTF8 ? ICECORE_TEXT : ICECORE_BYTES, flags, key, SvPVX_const(sv), SvCUR(sv));
    } else if (f & SVf_IOK)
        push_int(aTHX_ w, sv, flags, key);
    else if (f & SVf_NOK)
        push_float(aTHX_ w, SvNVX(sv), flags, key);
    else if (!(f & (SVf_IOK | SVf_NOK | SVf_POK | SVf_ROK | SVp_IOK | SVp_NOK | SVp_POK))) {
        if (UNLIKELY(sv == &PL_sv_undef))
            flags |= item ? ICECORE_BIT_4 | ICECORE_BIT_5 : ICECORE_BIT_4;
        push(aTHX_ w, ICECORE_NULL, flags, key, 0, 0);
    } else
        push_pv(aTHX_ w, sv, flags, key);
}

PERL_STATIC_INLINE void
sereal_leaf(pTHX_ walk *w, SV *sv, U8 flags, U16 key)
{
    const U32 f = SvFLAGS(sv);
    if ((f & (SVf_POK | SVf_IOK | SVf_NOK)) == SVf_POK)
        push_string(aTHX_ w, f & SVf_UTF8 ? ICECORE_TEXT : ICECORE_BYTES, flags, key, SvPVX_const(sv), SvCUR(sv));
    else if ((f & (SVf_POK | SVf_IOK)) == SVf_IOK)
        push_int(aTHX_ w, sv, flags, key);
    else if (f & SVf_POK) {
        if ((f & SVf_IOK) && SvIsBOOL(sv) && w->set->protocol >= 5)
            push(aTHX_ w, ICECORE_BOOL, flags | ICECORE_BIT_5, key, 0, SvTRUE_nomg_NN(sv));
        else if (f & SVf_IOK ? iw_is_integer_text(aTHX_ sv) : FALSE)
            push_int(aTHX_ w, sv, flags, key);
        else if (!(f & SVf_IOK) && iw_is_float_text(aTHX_ sv))
            push_float(aTHX_ w, SvNVX(sv), flags, key);
        else
            push_pv(aTHX_ w, sv, flags, key);
    } else if (f & SVf_NOK)
        push_float(aTHX_ w, SvNVX(sv), flags, key);
    else if (f & SVp_POK)
        push_pv(aTHX_ w, sv, flags, key);
    else if (f & SVp_IOK)
        push_int(aTHX_ w, sv, flags, key);
    else if (f & SVp_NOK)
        push_float(aTHX_ w, SvNVX(sv), flags, key);
    else {
        if (UNLIKELY(sv == &PL_sv_undef))
            flags |= ICECORE_BIT_4;
        push(aTHX_ w, ICECORE_NULL, flags, key, 0, 0);
    }
}

/* For formats that know strings from numbers: what is a string is one, also when
 * it was used as a number. */
PERL_STATIC_INLINE void
plain_leaf(pTHX_ walk *w, SV *sv, U8 flags, U16 key)
{
    if (SvPOK(sv) && SvIsBOOL(sv))
        push(aTHX_ w, ICECORE_BOOL, flags, key, 0, SvTRUE_nomg_NN(sv));
    else
        storable_leaf(aTHX_ w, sv, flags, key, FALSE);
}

/* JSON::XS prefers the string, then the float, then the integer. */
PERL_STATIC_INLINE void
json_leaf(pTHX_ walk *w, SV *sv, U8 flags, U16 key)
{
    const U32 f = SvFLAGS(sv);
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

bool iw_is_printed_integer(pTHX_ SV *sv);

/* Data::Dumper prefers the integer, if the string is what perl makes of it. */
PERL_STATIC_INLINE void
dumper_leaf(pTHX_ walk *w, SV *sv, U8 flags, U16 key)
{
    const U32 f = SvFLAGS(sv);
    if ((f & SVf_IOK) && (!(f & SVf_POK) || iw_is_printed_integer(aTHX_ sv)))
        push_int(aTHX_ w, sv, flags, key);
    else if (f & SVf_POK)
        push_string(aTHX_ w, f & SVf_UTF8 ? ICECORE_TEXT : ICECORE_BYTES, flags, key, SvPVX_const(sv), SvCUR(sv));
    else if (f & SVf_NOK)
        push_float(aTHX_ w, SvNVX(sv), flags, key);
    else if (f & (SVp_IOK | SVp_NOK | SVp_POK))
        push_pv(aTHX_ w, sv, flags, key);
    else {
        if (UNLIKELY(sv == &PL_sv_undef))
            flags |= ICECORE_BIT_4;
        push(aTHX_ w, ICECORE_NULL, flags, key, 0, 0);
    }
}

PERL_STATIC_INLINE void
leaf(pTHX_ walk *w, SV *sv, U8 flags, U16 key, bool item)
{
    if (w->storable)
        storable_leaf(aTHX_ w, sv, flags, key, item);
    else if (w->sereal)
        sereal_leaf(aTHX_ w, sv, flags, key);
    else if (w->json)
        json_leaf(aTHX_ w, sv, flags, key);
    else if (w->dumper)
        dumper_leaf(aTHX_ w, sv, flags, key);
    else
        plain_leaf(aTHX_ w, sv, flags, key);
}

/* Whether it is a signed integer, and nothing else, for all formats. */
PERL_STATIC_INLINE bool
is_integer(const SV *sv)
{
    return (SvFLAGS(sv) & (SVf_IOK | SVf_NOK | SVf_POK | SVf_ROK | SVf_IVisUV)) == SVf_IOK && SvTYPE(sv) < SVt_PVMG;
}

/* Whether nothing else refers to it, and it is no reference and has no magic. */
PERL_STATIC_INLINE bool
is_simple(SV *sv)
{
    return SvREFCNT(sv) == 1 && SvTYPE(sv) < SVt_PVMG && !SvROK(sv);
}

PERL_STATIC_INLINE bool
is_immortal(pTHX_ SV *sv)
{
    return sv == &PL_sv_undef || sv == &PL_sv_yes || sv == &PL_sv_no || sv == &PL_sv_placeholder;
}

/* Whether such a value is one of its own each time, and not the same variable
 * again. Up to protocol 2 Sereal has no word for perl's own undef. */
PERL_STATIC_INLINE bool
is_always_own(pTHX_ walk *w, SV *sv)
{
    if (sv == &PL_sv_yes || sv == &PL_sv_no)
        return !w->storable;
    return !w->sereal || w->set->protocol >= 3;
}

PERL_STATIC_INLINE void
push_immortal(pTHX_ walk *w, SV *sv, U16 key, bool item)
{
    if (sv == &PL_sv_yes || sv == &PL_sv_no)
        push(aTHX_ w, ICECORE_BOOL, ICECORE_BIT_4, key, 0, sv == &PL_sv_yes);
    else
        push(aTHX_ w, ICECORE_NULL, item && w->storable ? ICECORE_BIT_4 | ICECORE_BIT_5 : ICECORE_BIT_4, key, 0, 0);
}

/* Whether a reference to it is a reference to a variable. */
PERL_STATIC_INLINE bool
is_scalar(SV *sv)
{
    return SvTYPE(sv) < SVt_PVAV && SvTYPE(sv) != SVt_REGEXP && !isGV_with_GP(sv);
}

/* Whether a weak reference points to it, so that it may come again. */
PERL_STATIC_INLINE bool
has_backrefs(pTHX_ SV *sv)
{
    if (SvTYPE(sv) == SVt_PVHV)
        return HvHasAUX((HV *)sv) && HvAUX((HV *)sv)->xhv_backreferences;
    return SvTYPE(sv) >= SVt_PVMG && SvMAGICAL(sv) && mg_find(sv, PERL_MAGIC_backref);
}

#endif
