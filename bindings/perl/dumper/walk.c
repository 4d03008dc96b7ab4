/* The rules of Data::Dumper for walking values. */
#include "core/leaf.h"
#include "dumper/dumper.h"

/* Whether a string that was used as an integer equals what perl prints for the integer. */
static bool
is_printed_integer(pTHX_ SV *sv)
{
    char text[24];
    const int len = SvIsUV(sv) ? my_snprintf(text, sizeof text, "%" UVuf, SvUVX(sv))
                               : my_snprintf(text, sizeof text, "%" IVdf, SvIVX(sv));
    return (STRLEN)len == SvCUR(sv) && memEQ(text, SvPVX_const(sv), (STRLEN)len);
}

/* Data::Dumper prefers the integer, if the string is what perl prints for it. */
static void
leaf(pTHX_ iw_walk *w, SV *sv, U8 flags, U16 key, bool item)
{
    const U32 f = SvFLAGS(sv);
    PERL_UNUSED_VAR(item);
    if ((f & SVf_IOK) && (!(f & SVf_POK) || is_printed_integer(aTHX_ sv)))
        push_int(aTHX_ w, sv, flags, key);
    else if (f & SVf_POK)
        push_string(aTHX_ w, f & SVf_UTF8 ? ICECORE_TEXT : ICECORE_BYTES, flags, key, SvPVX_const(sv), SvCUR(sv));
    else if (f & SVf_NOK)
        push_float(aTHX_ w, SvNVX(sv), flags, key);
    else if (f & (SVp_IOK | SVp_NOK | SVp_POK))
        push_pv(aTHX_ w, sv, flags, key);
    else {
        if (UNLIKELY(sv == &PL_sv_undef))
            flags |= ICECORE_FLAG_OWN;
        push(aTHX_ w, ICECORE_NULL, flags, key, 0, 0);
    }
}

#define FACTS (IW_IN_ORDER | IW_EXACT_DEPTH | IW_SOURCE)
#define LEAF leaf
#include "core/walk_fast.h"

/* Calls the Freezer of an object, which may change it. */
static void
freeze_first(pTHX_ iw_walk *w, SV *rv)
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

static bool
put_ref(pTHX_ iw_walk *w, SV *rv, U16 key, U32 refs)
{
    PERL_UNUSED_VAR(key);
    PERL_UNUSED_VAR(refs);
    if (w->set->freezer)
        freeze_first(aTHX_ w, rv);
    return FALSE;
}

static bool
put_magical(pTHX_ iw_walk *w, SV *sv, U8 flags, U16 key, U32 wraps)
{
    return SvVOK(sv) && iw_put_magical(aTHX_ w, sv, flags, key, wraps);
}

/* Puts code: its text, or a stand-in. */
static void
put_code(pTHX_ iw_walk *w, SV *rv, SV *sv, U8 flags, U16 key, U32 wraps)
{
    STRLEN len = 0;
    const char *text = "";
    PERL_UNUSED_VAR(rv);
    if (w->set->deparse) {
        SV *code = newRV_inc(sv);
        AV *result;
        ice_keep(aTHX_ w->ctx, code);
        iw_pin(aTHX_ w);
        result = ice_call_list(aTHX_ (SV *)get_cv("Icecore::_deparse", GV_ADD), &code, 1);
        ice_keep(aTHX_ w->ctx, (SV *)result);
        if (AvFILLp(result) >= 0)
            text = SvPV(AvARRAY(result)[0], len);
        flags |= ICECORE_FLAG_HINT;
    } else {
        if (w->set->warns_of_code)
            warn("Encountered CODE ref, using dummy placeholder");
        text = "{ \"DUMMY\" }";
        len = strlen(text);
    }
    push(aTHX_ w, ICECORE_CODE, flags, key, 1, 0);
    push_string(aTHX_ w, ICECORE_BYTES, 0, 0, text, len);
    end_node(w, (U32)w->t->node_count - 2, 1, wraps);
}

/* Puts a glob; handles and so on can't be written. */
static void
put_unknown(pTHX_ iw_walk *w, SV *rv, SV *sv, U8 flags, U16 key, U32 wraps)
{
    SV *name;
    STRLEN len;
    const char *text;
    PERL_UNUSED_VAR(rv);
    PERL_UNUSED_VAR(flags);
    if (!isGV_with_GP(sv))
        iw_refuse(aTHX_ w, sv, key, wraps);
    if (w->set->met_glob)
        *w->set->met_glob = TRUE;
    name = sv_2mortal(newSV(0));
    gv_efullname4(name, (GV *)sv, "*", TRUE);
    text = SvPV(name, len);
    push_string(aTHX_ w, ICECORE_MODULE, 0, key, text, len);
    w->t->nodes[w->t->node_count - 1].payload |= ICE_FORM(ICECORE_FORM_VARIABLE);
    end_wraps(w, wraps);
}

static void
too_deep(pTHX_ const iw_walk *w)
{
    croak("Recursion limit of %" UVuf " exceeded", w->set->max_depth - w->is_list);
}

const iw_rules ice_dumper_rules = {
    FACTS,       iw_put,  put_fast, leaf,        iw_put_immortal, NULL, NULL,
    put_magical, put_ref, put_code,  put_unknown, too_deep
};
