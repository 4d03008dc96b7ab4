/* Unpacks lists. pack.h declares the function. */
#include "pack/pack.h"
#include "core/documents.h"
#include "core/build_leaf.h"

SV **
ice_unpack_list(pTHX_ SV **sp, SV *template, SV *bytes, bool first_only)
{
    const icecore_stage *stage;
    icecore_view view;
    icecore_error error;
    ice_context *ctx;
    ice_read_settings settings;
    STRLEN len;
    const char *text;
    const icecore_node *node, *end;
    ib_builder b;
    SV **const first = sp;

    SvGETMAGIC(bytes);
    text = SvPV_nomg(bytes, len);
    /* perl's own unpack stops after the first item, so it is faster. It is not used for text,
     * because it may read beyond the end of a text. */
    if (first_only && !SvUTF8(bytes) && ip_can_use_perl(aTHX_ template, NULL))
        return ip_unpack_by_perl(aTHX_ sp, template, bytes, first_only);
    stage = ice_pack_stage(aTHX_ template, SvUTF8(bytes) ? ICE_UNPACK_TEXT : ICE_UNPACK, &error);
    Zero(&settings, 1, ice_read_settings);
    ENTER;
    ctx = ice_take_context(aTHX);
    if (!stage || icecore_read(ctx->pooled.engine, stage, (const U8 *)text, len, 0, &view, &error) != ICECORE_OK) {
        if (!ip_can_use_perl(aTHX_ template, &error))
            ice_croak_error(aTHX_ & error);
        LEAVE;
        return ip_unpack_by_perl(aTHX_ sp, template, bytes, first_only);
    }
    Zero(&b, 1, ib_builder);
    b.ctx = ctx;
    b.view = &view;
    b.settings = &settings;
    b.false_value = &PL_sv_no;
    b.true_value = &PL_sv_yes;
    node = view.nodes + view.root;
    end = view.nodes + view.node_count;
    if (first_only && !(node->kind == ICECORE_ARRAY && node->aux))
        *++sp = &PL_sv_undef;
    else if (node->kind == ICECORE_ARRAY) {
        EXTEND(sp, (SSize_t)node->aux);
        if (first_only && node + 1 < end)
            end = node + 2;
        for (node++; node < end && ib_is_leaf(node); node++)
            *++sp = LIKELY(node->kind == ICECORE_INT) ? sv_2mortal(ib_new_int(aTHX_ (IV)(I64)node->payload))
                                                      : sv_2mortal(ib_new_leaf(aTHX_ & b, node));
    }
    LEAVE;
    if (UNLIKELY(TAINT_get)) {
        SV **item;
        for (item = first + 1; item <= sp; item++)
            if (*item != &PL_sv_undef)
                SvTAINTED_on(*item);
    }
    return sp;
}
