/* The rules of Sereal for walking values. */
#include "core/class_lists.h"
#include "core/leaf.h"
#include "sereal/sereal.h"

/* Whether a string that was used as an integer looks like that integer. */
static bool
is_integer_text(pTHX_ SV *sv)
{
    const char *text = SvPVX_const(sv);
    STRLEN len = SvCUR(sv);
    bool same;
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
        same = sv_eq_flags(number, sv, 0);
        SvREFCNT_dec(number);
    }
    return same;
}

/* Whether a string that was used as a float looks like a float to Sereal. */
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

static void
leaf(pTHX_ iw_walk *w, SV *sv, U8 flags, U16 key, bool item)
{
    const U32 f = SvFLAGS(sv);
    PERL_UNUSED_VAR(item);
    if ((f & (SVf_POK | SVf_IOK | SVf_NOK)) == SVf_POK)
        push_string(aTHX_ w, f & SVf_UTF8 ? ICECORE_TEXT : ICECORE_BYTES, flags, key, SvPVX_const(sv), SvCUR(sv));
    else if ((f & (SVf_POK | SVf_IOK)) == SVf_IOK)
        push_int(aTHX_ w, sv, flags, key);
    else if (f & SVf_POK) {
        if ((f & SVf_IOK) && SvIsBOOL(sv) && w->set->protocol >= 5)
            push(aTHX_ w, ICECORE_BOOL, flags | ICECORE_FLAG_VARIABLE, key, 0, SvTRUE_nomg_NN(sv));
        else if (f & SVf_IOK ? is_integer_text(aTHX_ sv) : FALSE)
            push_int(aTHX_ w, sv, flags, key);
        else if (!(f & SVf_IOK) && is_float_text(aTHX_ sv))
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
            flags |= ICECORE_FLAG_OWN;
        push(aTHX_ w, ICECORE_NULL, flags, key, 0, 0);
    }
}

#define FACTS IW_HINTS
#define LEAF leaf
#include "core/walk_fast.h"

/* Up to protocol 2 there is no form for perl's own undef. */
static bool
put_immortal(pTHX_ iw_walk *w, SV *sv, U16 key, bool item)
{
    if (w->set->protocol < 3 && sv != &PL_sv_yes && sv != &PL_sv_no)
        return FALSE;
    return iw_put_immortal(aTHX_ w, sv, key, item);
}

/* Returns a mortal. */
static SV *
class_name(pTHX_ HV *stash)
{
    HEK *name = HvNAME_HEK(stash);
    return sv_2mortal(name ? newSVhek(name) : newSVpvs("__ANON__"));
}

static void
refuse_freezing(pTHX_ HV *stash)
{
    croak("FREEZE not allowed for class '%" SVf "' (not in freeze_allow_classes)", SVfARG(class_name(aTHX_ stash)));
}

static void
use_class(pTHX_ iw_walk *w, ice_class *class)
{
    SV *list = w->set->freeze_allow;
    HEK *name = HvNAME_HEK(class->stash);
    if (!w->set->freeze_callbacks)
        return;
    class->hook = ice_method(aTHX_ class->stash, "FREEZE");
    if (!class->hook || !list || ice_class_list_is_code(list)
        || (name && ice_class_list_has(aTHX_ list, HEK_KEY(name), HEK_LEN(name), cBOOL(HEK_UTF8(name)))))
        return;
    if (!w->set->freezes_allowed_only)
        refuse_freezing(aTHX_ class->stash);
    class->hook = NULL;
}

/* If freeze_allow_classes is code, it is called for each object, as often as the object
 * is met. */
static bool
ask_hook(pTHX_ iw_walk *w, U32 class_index, SV *sv)
{
    HV *stash = w->ctx->classes[class_index].stash;
    SV *object;
    if (!ice_class_list_is_code(w->set->freeze_allow))
        return TRUE;
    ice_keep(aTHX_ w->ctx, object = newRV_inc(sv));
    iw_pin(aTHX_ w);
    if (ice_class_list_ask(aTHX_ w->set->freeze_allow, class_name(aTHX_ stash), object))
        return TRUE;
    w->last_stash = NULL;
    if (!w->set->freezes_allowed_only)
        refuse_freezing(aTHX_ stash);
    return FALSE;
}

/* Puts the result of FREEZE for an object. */
static bool
put_hooked(pTHX_ iw_walk *w, SV *sv, U32 class_index, U8 flags, U16 key, U32 wraps)
{
    const ice_class *class = &w->ctx->classes[class_index];
    const U32 id = class->id;
    SV *arguments[2];
    AV *list;
    U32 at;
    ice_keep(aTHX_ w->ctx, arguments[0] = newRV_inc(sv));
    ice_keep(aTHX_ w->ctx, arguments[1] = newSVpvs("Sereal"));
    iw_pin(aTHX_ w);
    list = ice_call_list(aTHX_ (SV *)class->hook, arguments, 2);
    ice_keep(aTHX_ w->ctx, (SV *)list);
    w->last_stash = NULL;
    push(aTHX_ w, ICECORE_OPAQUE, flags, key, 1, ICE_CLASS(id) | ICE_FORM(ICECORE_FORM_FREEZE));
    at = push(aTHX_ w, ICECORE_ARRAY, REFERENCE, 0, 0, 0);
    iw_push_frame(aTHX_ w, IW_ARRAY, at, wraps + 1, (SV *)list)->count = AvFILLp(list) + 1;
    return TRUE;
}

/* Puts code, globs, handles and so on. */
static void
put_unknown(pTHX_ iw_walk *w, SV *rv, SV *sv, U8 flags, U16 key, U32 wraps)
{
    const char *type = sv_reftype(sv, FALSE);
    PERL_UNUSED_VAR(flags);
    if (w->set->undef_unknown || w->set->stringify_unknown) {
        bool undef = w->set->undef_unknown;
        if (w->set->warn_unknown
            && (undef || w->set->warn_unknown != 2 || !SvOBJECT(sv) || !Gv_AMG(SvSTASH(sv))))
            warn("Found type %u %s(0x%p), but it is not representable by the Sereal encoding format; will encode as %s",
                 (unsigned)SvTYPE(sv), type, (void *)sv, undef ? "an undefined value" : "a stringified form");
        /* If a class was written, it is removed again. */
        if (wraps) {
            w->t->node_count -= wraps;
            key = w->t->nodes[w->t->node_count].key;
        }
        if (undef)
            push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
        else {
            STRLEN len;
            const char *text;
            iw_pin(aTHX_ w);
            text = SvPV(rv ? rv : sv, len);
            push_string(aTHX_ w, SvUTF8(rv ? rv : sv) ? ICECORE_TEXT : ICECORE_BYTES, 0, key, text, len);
        }
        return;
    }
    croak("Found type %u %s(0x%p), but it is not representable by the Sereal encoding format", (unsigned)SvTYPE(sv),
          type, (void *)sv);
}

static void
too_deep(pTHX_ const iw_walk *w)
{
    croak("Hit maximum recursion depth (%" UVuf "), aborting serialization", w->set->max_depth);
}

const iw_rules ice_sereal_rules = {
    FACTS, iw_put, put_fast, leaf, put_immortal, use_class, put_hooked, NULL, NULL, put_unknown, put_unknown, too_deep, ask_hook
};
