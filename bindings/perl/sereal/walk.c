/* The rules of Sereal for walking values. */
#include "core/class_lists.h"
#include "core/leaf.h"
#include "sereal/sereal.h"

/* Returns true if a string that was used as an integer is the text of that integer. */
static bool
is_integer_text(pTHX_ SV *sv)
{
    const char *text = SvPVX_const(sv);
    STRLEN len = SvCUR(sv);
    if (!SvIsUV(sv) && SvIVX(sv) == 0)
        return len == 1 && *text == '0';
    if (len == 0 || !isDIGIT(text[len - 1]))
        return FALSE;
    if (SvIsUV(sv) || SvIVX(sv) > 0) {
        if (text[0] == '0' || !isDIGIT(text[0]))
            return FALSE;
    } else if (len < 2 || text[0] != '-' || text[1] == '0' || !isDIGIT(text[1]))
        return FALSE;
    if (!SvNOK(sv))
        return TRUE;
    {
        SV *number = SvIsUV(sv) ? newSVuv(SvUVX(sv)) : newSViv(SvIVX(sv));
        const bool is_equal = cBOOL(sv_eq_flags(number, sv, 0));
        SvREFCNT_dec(number);
        return is_equal;
    }
}

/* Returns true if Sereal writes a string that was used as a float as that float. */
static bool
is_float_text(pTHX_ SV *sv)
{
    const char *text = SvPVX_const(sv);
    STRLEN len = SvCUR(sv);
    if (len <= 8 || !isDIGIT(text[0]) || !isDIGIT(text[len - 1]) || text[len - 1] == '0')
        return FALSE;
    if (SvNVX(sv) > 0.0)
        return !(text[0] == '0' && text[1] != '.');
    return FALSE;
}

/* Pushes a scalar. A scalar may have a string and a number. As in Sereal, the number is pushed if
 * the string is the text of this number. Otherwise the string is pushed. */
static void
push_scalar(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key, bool is_item)
{
    const U32 sv_flags = SvFLAGS(sv);
    PERL_UNUSED_VAR(is_item);
    if ((sv_flags & (SVf_POK | SVf_IOK | SVf_NOK)) == SVf_POK)
        iw_push_string(aTHX_ w, sv_flags & SVf_UTF8 ? ICECORE_TEXT : ICECORE_BYTES, flags, key, SvPVX_const(sv),
                       SvCUR(sv));
    else if ((sv_flags & (SVf_POK | SVf_IOK)) == SVf_IOK)
        iw_push_int(aTHX_ w, sv, flags, key);
    else if (sv_flags & SVf_POK) {
        if ((sv_flags & SVf_IOK) && SvIsBOOL(sv) && w->settings->sereal_protocol >= 5)
            iw_push(aTHX_ w, ICECORE_BOOL, flags | ICECORE_FLAG_VARIABLE, key, 0, SvTRUE_nomg_NN(sv));
        else if (sv_flags & SVf_IOK ? is_integer_text(aTHX_ sv) : FALSE)
            iw_push_int(aTHX_ w, sv, flags, key);
        else if (!(sv_flags & SVf_IOK) && is_float_text(aTHX_ sv))
            iw_push_float(aTHX_ w, SvNVX(sv), flags, key);
        else
            iw_push_pv(aTHX_ w, sv, flags, key);
    } else if (sv_flags & SVf_NOK)
        iw_push_float(aTHX_ w, SvNVX(sv), flags, key);
    else if (sv_flags & SVp_POK)
        iw_push_pv(aTHX_ w, sv, flags, key);
    else if (sv_flags & SVp_IOK)
        iw_push_int(aTHX_ w, sv, flags, key);
    else if (sv_flags & SVp_NOK)
        iw_push_float(aTHX_ w, SvNVX(sv), flags, key);
    else {
        if (UNLIKELY(sv == &PL_sv_undef))
            flags |= ICECORE_FLAG_OWN;
        iw_push(aTHX_ w, ICECORE_NULL, flags, key, 0, 0);
    }
}

#define IW_FORMAT (IW_HINTS | IW_EXACT_DEPTH | IW_BLESS_IS_NO_LEVEL | IW_REF_IS_NO_LEVEL)
#define IW_PUSH_SCALAR push_scalar
#include "core/walk_fast.h"

/* Before protocol 3, Sereal does not have a form for perl's immortal undef. */
static bool
put_immortal(pTHX_ iw_walker *w, SV *sv, U16 key, bool is_item)
{
    if (w->settings->sereal_protocol < 3 && sv != &PL_sv_yes && sv != &PL_sv_no)
        return FALSE;
    return iw_put_immortal(aTHX_ w, sv, key, is_item);
}

/* Returns the name of a class as a mortal. */
static SV *
class_name_of(pTHX_ HV *stash)
{
    HEK *name = HvNAME_HEK(stash);
    return sv_2mortal(name ? newSVhek(name) : newSVpvs("__ANON__"));
}

/* Dies because the allow list does not have a class. */
static void
croak_freeze_refused(pTHX_ HV *stash)
{
    croak("FREEZE not allowed for class '%" SVf "' (not in freeze_allow_classes)",
          SVfARG(class_name_of(aTHX_ stash)));
}

/* Finds FREEZE of a class. If the allow list is not code, it is checked here, once for each class. */
static void
find_hook(pTHX_ iw_walker *w, ice_class *class)
{
    SV *list = w->settings->freeze_allow_classes;
    HEK *name = HvNAME_HEK(class->stash);
    if (!w->settings->freeze_callbacks)
        return;
    class->hook = ice_find_method(aTHX_ class->stash, "FREEZE");
    if (!class->hook || !list || ice_class_list_is_code(list)
        || (name && ice_class_list_contains(aTHX_ list, HEK_KEY(name), HEK_LEN(name), cBOOL(HEK_UTF8(name)))))
        return;
    if (!w->settings->serializes_refused)
        croak_freeze_refused(aTHX_ class->stash);
    class->hook = NULL;
}

/* Returns true if FREEZE of an object may be called. If the allow list is code, it is called each time
 * that an object is met. */
static bool
is_hook_allowed(pTHX_ iw_walker *w, U32 class_index, SV *sv)
{
    HV *stash = w->ctx->classes[class_index].stash;
    SV *object;
    if (!ice_class_list_is_code(w->settings->freeze_allow_classes))
        return TRUE;
    ice_keep_for_call(aTHX_ w->ctx, object = newRV_inc(sv));
    iw_protect_frames(aTHX_ w);
    if (ice_class_list_call(aTHX_ w->settings->freeze_allow_classes, class_name_of(aTHX_ stash), object))
        return TRUE;
    w->last_stash = NULL;
    if (!w->settings->serializes_refused)
        croak_freeze_refused(aTHX_ stash);
    return FALSE;
}

/* Calls FREEZE of an object, and puts the list of its results. */
static bool
put_hooked(pTHX_ iw_walker *w, SV *sv, U32 class_index, U8 flags, U16 key, U32 wrapper_count)
{
    const ice_class *class = &w->ctx->classes[class_index];
    const U32 id = class->id;
    SV *arguments[2];
    AV *list;
    U32 node;
    ice_keep_for_call(aTHX_ w->ctx, arguments[0] = newRV_inc(sv));
    ice_keep_for_call(aTHX_ w->ctx, arguments[1] = newSVpvs("Sereal"));
    iw_protect_frames(aTHX_ w);
    list = ice_call_list(aTHX_ (SV *)class->hook, arguments, 2);
    ice_keep_for_call(aTHX_ w->ctx, (SV *)list);
    w->last_stash = NULL;
    iw_push(aTHX_ w, ICECORE_OPAQUE, flags, key, 1, ICE_CLASS(id) | ICE_FORM(ICECORE_FORM_FREEZE));
    node = iw_push(aTHX_ w, ICECORE_ARRAY, IW_FLAG_REF, 0, 0, 0);
    iw_push_frame(aTHX_ w, IW_ARRAY, node, wrapper_count + 1, (SV *)list)->count = AvFILLp(list) + 1;
    return TRUE;
}

/* Puts a value that Sereal can't express, such as code, a glob or a handle. The options say if it
 * becomes undef or a string. Without such an option, dies. */
static void
put_unknown(pTHX_ iw_walker *w, SV *rv, SV *sv, U8 flags, U16 key, U32 wrapper_count)
{
    const char *type = sv_reftype(sv, FALSE);
    PERL_UNUSED_VAR(flags);
    if (w->settings->undef_unknown || w->settings->stringify_unknown) {
        bool undef = w->settings->undef_unknown;
        if (w->settings->warn_unknown
            && (undef || w->settings->warn_unknown != ICE_WARN_UNLESS_OVERLOADED || !SvOBJECT(sv)
                || !Gv_AMG(SvSTASH(sv))))
            warn("Found type %u %s(0x%p), but it is not representable by the Sereal encoding format; will encode as "
                 "%s",
                 (unsigned)SvTYPE(sv), type, (void *)sv, undef ? "an undefined value" : "a stringified form");
        /* Wrappers, such as the object node of a class, are removed again. The outermost wrapper
         * has the key of the value. */
        if (wrapper_count) {
            w->tape->node_count -= wrapper_count;
            key = w->tape->nodes[w->tape->node_count].key;
        }
        if (undef)
            iw_push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
        else {
            STRLEN len;
            const char *text;
            iw_protect_frames(aTHX_ w);
            text = SvPV(rv ? rv : sv, len);
            iw_push_string(aTHX_ w, SvUTF8(rv ? rv : sv) ? ICECORE_TEXT : ICECORE_BYTES, 0, key, text, len);
        }
        return;
    }
    croak("Found type %u %s(0x%p), but it is not representable by the Sereal encoding format", (unsigned)SvTYPE(sv),
          type, (void *)sv);
}

static void
croak_too_deep(pTHX_ const iw_walker *w)
{
    croak("Hit maximum recursion depth (%" UVuf "), aborting serialization", w->settings->max_depth + 1);
}

const iw_rules ice_sereal_rules = {
    .format_flags = IW_FORMAT,
    .put = iw_put,
    .put_fast = put_fast,
    .push_scalar = push_scalar,
    .put_immortal = put_immortal,
    .find_hook = find_hook,
    .put_hooked = put_hooked,
    .put_code = put_unknown,
    .put_unknown = put_unknown,
    .croak_too_deep = croak_too_deep,
    .is_hook_allowed = is_hook_allowed,
};
