/* Unpacking lists, as perl's unpack does. */
#include "pack/pack.h"
#include "core/documents.h"
#include "core/build_leaf.h"

/* Pushes the items of a string to perl's stack, from `sp` on. */
SV **
ice_unpack_list(pTHX_ SV **sp, SV *template, SV *bytes, bool only_one)
{
    const icecore_stage *stage;
    icecore_view view;
    icecore_error error;
    ice_context *ctx;
    ice_read_settings set;
    STRLEN len;
    const char *text;
    const icecore_node *node, *end;
    ib_build b;
    SV **const first = sp;

    SvGETMAGIC(bytes);
    text = SvPV_nomg(bytes, len);
    /* Perl stops after the first item. In text it may read bytes that don't exist. */
    if (only_one && !SvUTF8(bytes) && ip_may_perl(aTHX_ template, NULL))
        return ip_unpack_by_perl(aTHX_ sp, template, bytes, only_one);
    stage = ice_pack_stage(aTHX_ template, SvUTF8(bytes) ? ICE_UNPACK_TEXT : ICE_UNPACK, &error);
    Zero(&set, 1, ice_read_settings);
    ENTER;
    ctx = ice_checkout(aTHX);
    if (!stage || icecore_read(ctx->warm.engine, stage, (const U8 *)text, len, 0, &view, &error) != ICECORE_OK) {
        if (!ip_may_perl(aTHX_ template, &error))
            ice_croak_error(aTHX_ & error);
        LEAVE;
        return ip_unpack_by_perl(aTHX_ sp, template, bytes, only_one);
    }
    Zero(&b, 1, ib_build);
    b.ctx = ctx;
    b.v = &view;
    b.set = &set;
    b.no = &PL_sv_no;
    b.yes = &PL_sv_yes;
    node = view.nodes + view.root;
    end = view.nodes + view.node_count;
    if (only_one && !(node->kind == ICECORE_ARRAY && node->aux))
        *++sp = &PL_sv_undef;
    else if (node->kind == ICECORE_ARRAY) {
        EXTEND(sp, (SSize_t)node->aux);
        if (only_one && node + 1 < end)
            end = node + 2;
        for (node++; node < end && is_leaf(node); node++)
            *++sp = LIKELY(node->kind == ICECORE_INT) ? sv_2mortal(new_int(aTHX_ (IV)(I64)node->payload))
                                                      : sv_2mortal(new_leaf(aTHX_ &b, node));
    }
    LEAVE;
    if (UNLIKELY(TAINT_get)) {
        SV **made;
        for (made = first + 1; made <= sp; made++)
            if (*made != &PL_sv_undef)
                SvTAINTED_on(*made);
    }
    return sp;
}
