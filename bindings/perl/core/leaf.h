/* Pushes the nodes of scalars. */
#ifndef ICECORE_LEAF_H
#define ICECORE_LEAF_H
#include "core/walk.h"

/* Pushes the integer of a scalar. */
PERL_STATIC_INLINE void
iw_push_int(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key)
{
    /* An unsigned integer that also fits into an IV has the same node as a signed one. */
    if (SvIsUV(sv) && SvUVX(sv) > (UV)IV_MAX)
        iw_push(aTHX_ w, ICECORE_UINT, flags, key, 0, (U64)SvUVX(sv));
    else
        iw_push(aTHX_ w, ICECORE_INT, flags, key, 0, (U64)(I64)SvIVX(sv));
}

/* Pushes a float. */
PERL_STATIC_INLINE void
iw_push_float(pTHX_ iw_walker *w, NV value, U8 flags, U16 key)
{
    U64 bits;
    double number = (double)value;
    memcpy(&bits, &number, 8);
    iw_push(aTHX_ w, ICECORE_FLOAT, flags, key, 0, bits);
}

/* Pushes the string of a scalar. Its get magic was called before. */
PERL_STATIC_INLINE void
iw_push_pv(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key)
{
    STRLEN len;
    const char *text = SvPV_nomg(sv, len);
    iw_push_string(aTHX_ w, SvUTF8(sv) ? ICECORE_TEXT : ICECORE_BYTES, flags, key, text, len);
}

/* Pushes a scalar. A scalar can have a string, an integer and a float at the same time.
 * This function prefers the string, then the integer, then the float; some formats have a
 * function of their own with another order. */
PERL_STATIC_INLINE void
iw_push_scalar(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key, bool is_item)
{
    const U32 sv_flags = SvFLAGS(sv);
    if (sv_flags & SVf_POK) {
        if (UNLIKELY(SvREADONLY(sv) && (sv == &PL_sv_yes || sv == &PL_sv_no)))
            iw_push(aTHX_ w, ICECORE_BOOL, flags | ICECORE_FLAG_OWN, key, 0, sv == &PL_sv_yes);
#if PERL_VERSION_GE(5, 37, 0)
        else if (UNLIKELY(SvIsBOOL(sv) && !SvREADONLY(sv)))
            iw_push(aTHX_ w, ICECORE_BOOL, flags | ICECORE_FLAG_VARIABLE, key, 0, SvTRUE_nomg_NN(sv));
#endif
        else
            iw_push_string(aTHX_ w, sv_flags & SVf_UTF8 ? ICECORE_TEXT : ICECORE_BYTES, flags, key, SvPVX_const(sv),
                           SvCUR(sv));
    } else if (sv_flags & SVf_IOK)
        iw_push_int(aTHX_ w, sv, flags, key);
    else if (sv_flags & SVf_NOK)
        iw_push_float(aTHX_ w, SvNVX(sv), flags, key);
    else if (!(sv_flags & (SVf_IOK | SVf_NOK | SVf_POK | SVf_ROK | SVp_IOK | SVp_NOK | SVp_POK))) {
        if (UNLIKELY(sv == &PL_sv_undef))
            flags |= is_item ? ICECORE_FLAG_OWN | ICECORE_FLAG_ITEM : ICECORE_FLAG_OWN;
        iw_push(aTHX_ w, ICECORE_NULL, flags, key, 0, 0);
    } else /* only private flags are set, so perl computes the string */
        iw_push_pv(aTHX_ w, sv, flags, key);
}

/* Returns true if nothing else refers to the SV, and it is not a reference and has no
 * magic. */
PERL_STATIC_INLINE bool
iw_is_simple(SV *sv)
{
    return SvREFCNT(sv) == 1 && SvTYPE(sv) < SVt_PVMG && !SvROK(sv);
}

/* Returns true for the values that perl itself owns. */
PERL_STATIC_INLINE bool
iw_is_immortal(pTHX_ SV *sv)
{
    return sv == &PL_sv_undef || sv == &PL_sv_yes || sv == &PL_sv_no || sv == &PL_sv_placeholder;
}

/* Returns true if a reference to the SV refers to a variable, not to an array, a hash,
 * code, a regexp or a glob. */
PERL_STATIC_INLINE bool
iw_is_scalar(SV *sv)
{
    return SvTYPE(sv) < SVt_PVAV && SvTYPE(sv) != SVt_REGEXP && !isGV_with_GP(sv);
}

/* Returns true if a weak reference points to the SV, so that it may be met again. */
PERL_STATIC_INLINE bool
iw_has_backrefs(pTHX_ SV *sv)
{
    if (SvTYPE(sv) == SVt_PVHV)
        return HvHasAUX((HV *)sv) && HvAUX((HV *)sv)->xhv_backreferences;
    return SvTYPE(sv) >= SVt_PVMG && SvMAGICAL(sv) && mg_find(sv, PERL_MAGIC_backref);
}

#endif
