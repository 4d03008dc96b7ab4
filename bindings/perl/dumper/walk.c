/* The rules of Data::Dumper for walking values. */
#include "core/leaf.h"
#include "dumper/dumper.h"

/* Returns true if a string that was used as an integer is what perl prints for that integer. */
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
push_scalar(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key, bool is_item)
{
    const U32 sv_flags = SvFLAGS(sv);
    PERL_UNUSED_VAR(is_item);
    if ((sv_flags & SVf_IOK) && (!(sv_flags & SVf_POK) || is_printed_integer(aTHX_ sv)))
        iw_push_int(aTHX_ w, sv, flags, key);
    else if (sv_flags & SVf_POK)
        iw_push_string(aTHX_ w, sv_flags & SVf_UTF8 ? ICECORE_TEXT : ICECORE_BYTES, flags, key, SvPVX_const(sv),
                       SvCUR(sv));
    else if (sv_flags & SVf_NOK)
        iw_push_float(aTHX_ w, SvNVX(sv), flags, key);
    else if (sv_flags & (SVp_IOK | SVp_NOK | SVp_POK))
        iw_push_pv(aTHX_ w, sv, flags, key);
    else {
        if (UNLIKELY(sv == &PL_sv_undef))
            flags |= ICECORE_FLAG_OWN;
        iw_push(aTHX_ w, ICECORE_NULL, flags, key, 0, 0);
    }
}

#define IW_FORMAT (IW_PERL_ORDER | IW_EXACT_DEPTH | IW_SOURCE)
#define IW_PUSH_SCALAR push_scalar
#include "core/walk_fast.h"

/* Calls the Freezer of an object. The Freezer is perl code and may change classes, so the class
 * of the last object is forgotten. */
static void
call_freezer(pTHX_ iw_walker *w, SV *rv)
{
    SV *object = SvRV(rv);
    CV *method;
    if (!SvOBJECT(object) || !(method = ice_find_method(aTHX_ SvSTASH(object), w->settings->freezer_method)))
        return;
    iw_protect_frames(aTHX_ w);
    ice_keep_for_call(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(rv));
    ice_keep_for_call(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(object));
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

/* Calls the Freezer of an object, before any other function puts it. Puts nothing itself. */
static bool
put_ref(pTHX_ iw_walker *w, SV *rv, U16 key, U32 refs)
{
    PERL_UNUSED_VAR(key);
    PERL_UNUSED_VAR(refs);
    if (w->settings->freezer_method)
        call_freezer(aTHX_ w, rv);
    return FALSE;
}

/* Only v-strings have a form of their own, also if a tied scalar has one. */
static bool
put_magical(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key, U32 wrapper_count)
{
    return SvVOK(sv) && iw_put_vstring(aTHX_ w, sv, flags, key, wrapper_count);
}

static bool
put_immortal(pTHX_ iw_walker *w, SV *sv, U16 key, bool is_item)
{
    if (sv == &PL_sv_undef && w->settings->undef_count)
        ++*w->settings->undef_count;
    return iw_put_immortal(aTHX_ w, sv, key, is_item);
}

/* Puts code: its text with Deparse, and otherwise a dummy sub. */
static void
put_code(pTHX_ iw_walker *w, SV *rv, SV *sv, U8 flags, U16 key, U32 wrapper_count)
{
    STRLEN len = 0;
    const char *text = "";
    PERL_UNUSED_VAR(rv);
    if (w->settings->deparse) {
        SV *code = newRV_inc(sv);
        AV *result;
        ice_keep_for_call(aTHX_ w->ctx, code);
        iw_protect_frames(aTHX_ w);
        result = ice_call_list(aTHX_ (SV *)get_cv("Icecore::_deparse", GV_ADD), &code, 1);
        ice_keep_for_call(aTHX_ w->ctx, (SV *)result);
        if (AvFILLp(result) >= 0)
            text = SvPV(AvARRAY(result)[0], len);
        flags |= ICECORE_FLAG_HINT;
    } else {
        if (w->settings->warns_about_code)
            warn("Encountered CODE ref, using dummy placeholder");
        text = "{ \"DUMMY\" }";
        len = strlen(text);
    }
    iw_push(aTHX_ w, ICECORE_CODE, flags, key, 1, 0);
    iw_push_string(aTHX_ w, ICECORE_BYTES, 0, 0, text, len);
    iw_end_node(w, (U32)w->tape->node_count - 2, 1, wrapper_count);
}

/* Puts the name of a glob. Handles and formats are left to Data::Dumper itself, which warns of them. */
static void
put_unknown(pTHX_ iw_walker *w, SV *rv, SV *sv, U8 flags, U16 key, U32 wrapper_count)
{
    SV *name;
    STRLEN len;
    const char *text;
    PERL_UNUSED_VAR(rv);
    PERL_UNUSED_VAR(flags);
    if (!isGV_with_GP(sv)) {
        if (!w->settings->needs_original)
            iw_croak_unsupported(aTHX_ w, sv, key, wrapper_count);
        *w->settings->needs_original = TRUE;
        iw_push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
        iw_end_wrappers(w, wrapper_count);
        return;
    }
    if (w->settings->dumps_globs && w->settings->needs_original)
        *w->settings->needs_original = TRUE;
    name = sv_2mortal(newSV(0));
    gv_efullname4(name, (GV *)sv, "*", TRUE);
    text = SvPV(name, len);
    iw_push_string(aTHX_ w, ICECORE_MODULE, 0, key, text, len);
    w->tape->nodes[w->tape->node_count - 1].payload |= ICE_FORM(ICECORE_FORM_VARIABLE);
    iw_end_wrappers(w, wrapper_count);
}

static void
croak_too_deep(pTHX_ const iw_walker *w)
{
    /* The list around the values is one level more than the program has set. */
    croak("Recursion limit of %" UVuf " exceeded", w->settings->max_depth - w->is_list);
}

const iw_rules ice_dumper_rules = {
    .format_flags = IW_FORMAT,
    .put = iw_put,
    .put_fast = put_fast,
    .push_scalar = push_scalar,
    .put_immortal = put_immortal,
    .put_magical = put_magical,
    .put_ref = put_ref,
    .put_code = put_code,
    .put_unknown = put_unknown,
    .croak_too_deep = croak_too_deep,
};
