/* What Data::Dumper sees that other formats do not. */
#include "leaf.h"

/* Whether a string that was used as an integer is what perl prints for it. */
bool
iw_is_printed_integer(pTHX_ SV *sv)
{
    char text[24];
    const int len = SvIsUV(sv) ? my_snprintf(text, sizeof text, "%" UVuf, SvUVX(sv))
                               : my_snprintf(text, sizeof text, "%" IVdf, SvIVX(sv));
    return (STRLEN)len == SvCUR(sv) && memEQ(text, SvPVX_const(sv), (STRLEN)len);
}

/* Calls the Freezer of an object, which may change it. */
void
iw_freeze_first(pTHX_ walk *w, SV *rv)
{
    SV *object = SvRV(rv);
    CV *method;
    if (!SvOBJECT(object) || !(method = ice_method(aTHX_ SvSTASH(object), w->set->freezer)))
        return;
    iw_pin(aTHX_ w);
    ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(rv));
    ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(object));
    {
        dSP;
        ENTER;
        SAVETMPS;
        PUSHSTACKi(PERLSI_MAGIC);
        PUSHMARK(SP);
        XPUSHs(rv);
        PUTBACK;
        call_sv((SV *)method, G_EVAL | G_VOID | G_DISCARD);
        if (SvTRUE(ERRSV))
            warn("WARNING(Freezer method call failed): %" SVf, SVfARG(ERRSV));
        POPSTACK;
        FREETMPS;
        LEAVE;
    }
    w->last_stash = NULL;
}

/* Shows what is too deep as its address. `refs`: how many references were put for
 * the same variable. */
bool
iw_put_address(pTHX_ walk *w, SV *rv, U16 key, U32 refs)
{
    SV *sv = SvRV(rv);
    STRLEN len;
    const char *text;
    if (w->ctx->depth - w->is_list + refs < w->set->shown_depth || ice_map_find(&w->ctx->seen, sv))
        return FALSE;
    /* As perl prints it: a class may overload that. */
    iw_pin(aTHX_ w);
    ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(rv));
    text = SvPV(rv, len);
    /* The hint has it written without escapes. */
    push_string(aTHX_ w, ICECORE_BYTES, ICECORE_BIT_7, key, text, len);
    return TRUE;
}

/* Code and globs. */
bool
iw_put_dumped(pTHX_ walk *w, SV *sv, U8 flags, U16 key, U32 wraps)
{
    if (SvTYPE(sv) == SVt_PVCV) {
        if (w->set->deparse) {
            SV *code = newRV_inc(sv);
            AV *result;
            STRLEN len;
            const char *text = "";
            ice_keep(aTHX_ w->ctx, code);
            iw_pin(aTHX_ w);
            result = ice_call_list(aTHX_ (SV *)get_cv("Icecore::_deparse", GV_ADD), &code, 1);
            ice_keep(aTHX_ w->ctx, (SV *)result);
            if (AvFILLp(result) >= 0)
                text = SvPV(AvARRAY(result)[0], len);
            else
                len = 0;
            push(aTHX_ w, ICECORE_CODE, flags | ICECORE_BIT_7, key, 1, 0);
            push_string(aTHX_ w, ICECORE_BYTES, 0, 0, text, len);
            end_node(w, (U32)w->t->node_count - 2, 1, wraps);
            return TRUE;
        }
        if (w->set->warns_of_code)
            warn("Encountered CODE ref, using dummy placeholder");
        push(aTHX_ w, ICECORE_CODE, flags, key, 1, 0);
        push_string(aTHX_ w, ICECORE_BYTES, 0, 0, "{ \"DUMMY\" }", 11);
        end_node(w, (U32)w->t->node_count - 2, 1, wraps);
        return TRUE;
    }
    if (isGV_with_GP(sv)) {
        SV *name = sv_2mortal(newSV(0));
        STRLEN len;
        const char *text;
        gv_efullname4(name, (GV *)sv, "*", TRUE);
        text = SvPV(name, len);
        push_string(aTHX_ w, ICECORE_MODULE, 0, key, text, len);
        w->t->nodes[w->t->node_count - 1].payload |= ICE_FORM(ICECORE_FORM_VARIABLE);
        end_wraps(w, wraps);
        return TRUE;
    }
    return FALSE;
}
