/* Leaves: values that contain no other values. */
#ifndef ICECORE_BUILD_LEAF_H
#define ICECORE_BUILD_LEAF_H
#include "core/build.h"

/* Dies with a message that names the path of a node. */
void ib_croak_at_node(pTHX_ ib_builder *b, const char *message, const icecore_node *node);
void ib_croak_bad_utf8(pTHX_ ib_builder *b, const icecore_node *node);
/* Returns an integer beyond 64 bits as its decimal digits. */
SV *ib_new_big_int(pTHX_ ib_builder *b, const icecore_node *node);
/* Converts an IEEE 754 binary128 to perl's float. */
NV ib_float128(const U8 *bytes);
/* Returns a leaf. Depending on the settings, undef and small integers are shared. */
SV *ib_new_shared_leaf(pTHX_ ib_builder *b, const icecore_node *node);

/* Returns a new string. Calls no function of perl if its headers can create one inline. */
PERL_STATIC_INLINE SV *
ib_new_pv(pTHX_ const char *text, STRLEN len)
{
#if PERL_VERSION_GE(5, 36, 0)
    /* As in perl, the buffer has at least 16 bytes, with one for a NUL and one for the number of
     * SVs that share the buffer. */
    const STRLEN size = len + 2 < 16 ? 16 : len + 2;
    SV *sv = newSV_type(SVt_PV);
    char *copy;
    Newx(copy, size, char);
    ice_copy(copy, text, len);
    copy[len] = 0;
    SvPV_set(sv, copy);
    SvCUR_set(sv, len);
    SvLEN_set(sv, size);
    SvFLAGS(sv) |= SVf_POK | SVp_POK;
    return sv;
#else
    return newSVpvn(text, len);
#endif
}

/* Returns a new string from the bytes of a node. They are not marked as UTF-8. */
PERL_STATIC_INLINE SV *
ib_new_bytes(pTHX_ ib_builder *b, const icecore_node *node)
{
    STRLEN len;
    const char *text = ice_bytes_of(b->view, node, &len);
    return ib_new_pv(aTHX_ text, len);
}

/* Returns a new string from the text or the bytes of a node. Symbols and names from other
 * languages are marked as UTF-8 if they are valid UTF-8. */
PERL_STATIC_INLINE SV *
ib_new_string(pTHX_ ib_builder *b, const icecore_node *node)
{
    STRLEN len;
    const char *text = ice_bytes_of(b->view, node, &len);
    SV *sv;
    if (node->kind == ICECORE_TEXT && UNLIKELY(!ice_is_utf8((const U8 *)text, len)) && !b->settings->trusts_utf8_flag)
        ib_croak_bad_utf8(aTHX_ b, node);
    sv = ib_new_pv(aTHX_ text, len);
    if (node->kind == ICECORE_TEXT
        || ((node->kind == ICECORE_SYMBOL || node->kind == ICECORE_MODULE || node->kind == ICECORE_ENUM_CASE)
            && !ice_is_ascii((const U8 *)text, len) && ice_is_utf8((const U8 *)text, len)))
        SvUTF8_on(sv);
    return sv;
}

/* Returns a new integer. Calls no function of perl if its headers can create one inline. */
PERL_STATIC_INLINE SV *
ib_new_int(pTHX_ IV value)
{
#if PERL_VERSION_GE(5, 36, 0)
    SV *sv = newSV_type(SVt_IV);
    SvIV_set(sv, value);
    SvFLAGS(sv) |= SVf_IOK | SVp_IOK;
    return sv;
#else
    return newSViv(value);
#endif
}

/* Returns perl's immortal value for a node that had it when it was frozen, otherwise NULL. */
PERL_STATIC_INLINE SV *
ib_immortal_value(pTHX_ ib_builder *b, const icecore_node *node)
{
    if (!(node->flags & ICECORE_FLAG_OWN))
        return NULL;
    if (node->kind == ICECORE_NULL)
        return &PL_sv_undef;
    if (node->kind == ICECORE_BOOL && b->true_value == &PL_sv_yes)
        return node->payload ? &PL_sv_yes : &PL_sv_no;
    return NULL;
}

/* Returns a new leaf; NULL for an item of an array that does not exist. */
PERL_STATIC_INLINE SV *
ib_new_leaf(pTHX_ ib_builder *b, const icecore_node *node)
{
    switch (node->kind) {
    case ICECORE_BYTES:
    case ICECORE_TEXT:
        return ib_new_string(aTHX_ b, node);
    case ICECORE_INT:
        return ib_new_int(aTHX_ (IV)(I64)node->payload);
    case ICECORE_NULL:
        return UNLIKELY(node->flags & ICECORE_FLAG_OWN) ? &PL_sv_undef : newSV(0);
    case ICECORE_BOOL: {
        SV *immortal = ib_immortal_value(aTHX_ b, node);
        return immortal ? immortal : newSVsv(node->payload ? b->true_value : b->false_value);
    }
    case ICECORE_FLOAT: {
        double number;
        memcpy(&number, &node->payload, 8);
        return newSVnv(number);
    }
    case ICECORE_FLOAT32: {
        float number;
        U32 bits = (U32)node->payload;
        memcpy(&number, &bits, 4);
        return newSVnv(number);
    }
    case ICECORE_UINT:
        return newSVuv((UV)node->payload);
    case ICECORE_BIGINT:
        return ib_new_big_int(aTHX_ b, node);
    case ICECORE_FLOAT128: {
        STRLEN len;
        const char *bytes = ice_bytes_of(b->view, node, &len);
        return newSVnv(len == 16 ? ib_float128((const U8 *)bytes) : 0);
    }
    case ICECORE_HOLE:
        return NULL;
    default:
        return ib_new_string(aTHX_ b, node);
    }
}

PERL_STATIC_INLINE bool
ib_is_leaf(const icecore_node *node)
{
    return node->kind < ICECORE_LINK;
}

#endif
