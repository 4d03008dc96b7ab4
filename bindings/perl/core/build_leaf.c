/* Builds leaves that are rare, or that need more code than those in build_leaf.h. */
#include "core/build_leaf.h"

/* Dies with a message that names the path of a node. */
static void
croak_with_path(pTHX_ ib_builder *b, const char *prefix, const char *message, const icecore_node *node)
{
    char path[512];
    icecore_path(b->ctx->pooled.engine, b->view->input, b->view->input_len, (U32)(node - b->view->nodes), path,
                 sizeof path);
    croak("%s%s at %s", prefix, message, path);
}

void
ib_croak_at_node(pTHX_ ib_builder *b, const char *message, const icecore_node *node)
{
    croak_with_path(aTHX_ b, "Icecore: ", message, node);
}

void
ib_croak_bad_utf8(pTHX_ ib_builder *b, const icecore_node *node)
{
    if (b->settings->invalid_utf8_message)
        croak_with_path(aTHX_ b, "", b->settings->invalid_utf8_message, node);
    ib_croak_at_node(aTHX_ b, "text that is not UTF-8", node);
}

SV *
ib_new_big_int(pTHX_ ib_builder *b, const icecore_node *node)
{
    STRLEN len, count = 1, i;
    const U8 *magnitude = (const U8 *)ice_bytes_of(b->view, node, &len);
    U32 *groups; /* groups of nine digits, the lowest first */
    SV *sv = newSVpv(node->flags & ICECORE_FLAG_NEGATIVE ? "-" : "", 0);
    Newxz(groups, len / 3 + 2, U32);
    SAVEFREEPV(groups);
    /* For each byte, from the highest one on: number = number * 256 + byte. Three bytes have
     * fewer than nine digits, so len / 3 + 2 groups are enough. */
    while (len--) {
        U64 carry = magnitude[len];
        for (i = 0; i < count; i++) {
            carry += (U64)groups[i] << 8;
            groups[i] = (U32)(carry % 1000000000);
            carry /= 1000000000;
        }
        if (carry)
            groups[count++] = (U32)carry;
    }
    sv_catpvf(sv, "%" UVuf, (UV)groups[count - 1]);
    for (i = count - 1; i--;)
        sv_catpvf(sv, "%09" UVuf, (UV)groups[i]);
    return sv;
}

NV
ib_float128(const U8 *bytes)
{
    NV value = 0;
    int i, exponent = (bytes[15] & 0x7F) << 8 | bytes[14];
    /* The 14 bytes of the fraction, from the lowest one on. */
    for (i = 0; i < 14; i++)
        value = (value + bytes[i]) / 256;
    if (exponent == 0x7FFF)
        value = value == 0 ? NV_INF : NV_NAN;
    else if (exponent == 0)
        value = Perl_ldexp(value, -16382);
    else
        value = Perl_ldexp(value + 1, exponent - 16383);
    return bytes[15] & 0x80 ? -value : value;
}

/* Returns true if a text of JSON is a number that the reader left as text. A string has a quote
 * before it in the input, a number has none. */
static bool
is_unquoted_number(const ib_builder *b, const icecore_node *node)
{
    const U64 offset = node->payload & ICECORE_OFFSET;
    if ((node->kind != ICECORE_TEXT && node->kind != ICECORE_BYTES) || node->payload & ICECORE_IN_ARENA
        || offset >= b->view->input_len)
        return FALSE;
    return offset == 0 || !memCHRs("\"'", b->view->input[offset - 1]);
}

/* Writes a float with the fewest digits that give the same float again. */
static SV *
new_float_text(pTHX_ NV value)
{
    int digits;
    for (digits = 15; digits < 17; digits++) {
        SV *sv = newSVpvf("%.*" NVgf, digits, value);
        if (Atof(SvPVX(sv)) == value)
            return sv;
        SvREFCNT_dec(sv);
    }
    return newSVpvf("%.17" NVgf, value);
}

/* Returns a number as text, and adds it to settings->numbers. The numbers in this list become
 * objects when everything is built. Returns NULL for other leaves. */
static SV *
new_number(pTHX_ ib_builder *b, const icecore_node *node)
{
    const bool is_float = node->kind != ICECORE_BIGINT;
    SV *sv;
    if (node->kind == ICECORE_FLOAT) {
        double number;
        memcpy(&number, &node->payload, 8);
        sv = new_float_text(aTHX_ number);
    } else if (node->kind == ICECORE_BIGINT || is_unquoted_number(b, node))
        sv = ib_new_leaf(aTHX_ b, node);
    else
        return NULL;
    av_push(b->settings->numbers, SvREFCNT_inc_simple_NN(sv));
    av_push(b->settings->numbers, newSVsv(boolSV(is_float)));
    return sv;
}

/* Marks a value as tainted if perl -T has tainted the input. Returns the value. */
static SV *
mark_tainted(pTHX_ const ib_builder *b, const icecore_node *node, SV *sv)
{
    if (TAINT_get && sv && node->kind != ICECORE_NULL && node->kind != ICECORE_BOOL && !SvREADONLY(sv)
        && !(b->settings->untainted_integers && node->kind == ICECORE_INT))
        SvTAINTED_on(sv);
    return sv;
}

SV *
ib_new_shared_leaf(pTHX_ ib_builder *b, const icecore_node *node)
{
    const ice_read_settings *settings = b->settings;
    const ice_build_frame *frame = b->ctx->depth ? &b->ctx->frames[b->ctx->depth - 1].build : NULL;
    SV *leaf = settings->numbers ? new_number(aTHX_ b, node) : NULL;
    if (leaf)
        return mark_tainted(aTHX_ b, node, leaf);
    /* Only items of arrays and values of hashes are shared. The small integers begin at -16. This
     * integer has the index 0 in the list. */
    if (frame && (frame->kind == IB_ARRAY || frame->kind == IB_MAP)) {
        if (node->kind == ICECORE_NULL && settings->use_undef)
            return &PL_sv_undef;
        if (node->kind == ICECORE_INT && settings->aliased_integers && (I64)node->payload >= -16
            && (I64)node->payload < settings->alias_limit) {
            SV **cached = av_fetch(settings->aliased_integers, (SSize_t)((I64)node->payload + 16), TRUE);
            if (!SvOK(*cached)) {
                sv_setiv(*cached, (IV)(I64)node->payload);
                SvREADONLY_on(*cached);
            }
            return SvREFCNT_inc_simple_NN(*cached);
        }
    }
    leaf = ib_new_leaf(aTHX_ b, node);
    if (settings->parses_floats && is_unquoted_number(b, node))
        sv_setnv(leaf, SvNV(leaf));
    if (settings->has_bytes && node->kind == ICECORE_TEXT && node->payload & ICECORE_IN_ARENA)
        sv_utf8_downgrade(leaf, TRUE);
    return mark_tainted(aTHX_ b, node, leaf);
}
