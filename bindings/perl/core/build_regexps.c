/* Regexps: which patterns are compiled, and what replaces the others.
 *
 * Compiling a pattern can run code: a property may be a sub of the program, `\N{...}`
 * loads the names of characters, and `(?{...})` is code itself. Such a pattern becomes a
 * record, and so does one that is too unusual to be sure. */
#include "core/build.h"

/* Returns the end of the blanks at `p`. */
static const char *
skip_blanks(const char *p, const char *end)
{
    while (p < end && isSPACE_A(*p))
        p++;
    return p;
}

/* Whether the value of a property is looked up in the names of characters, or is a
 * pattern itself. */
static bool
has_active_value(const char *name, const char *sign, const char *end)
{
    const char *value = skip_blanks(sign + 1, end), *p = skip_blanks(value + 1, end);
    /* Blanks, `_` and `-` in a name are ignored. */
    const char *second = name + 1;
    while (second < sign && !isALPHANUMERIC_A(*second))
        second++;
    if (toLOWER_A(*name) == 'n' && second < sign && toLOWER_A(*second) == 'a')
        return TRUE;
    if (value == end)
        return TRUE;
    if (toLOWER_A(*value) == 'm' && p < end && !isWORDCHAR_A(*p))
        return TRUE;
    for (p = value; p < end; p++)
        if (*p == '/' && !(p > value && isDIGIT_A(p[-1])))
            return TRUE;
    return FALSE;
}

/* Whether the name of a property can only be one of Unicode's own. */
static bool
is_own_property(const char *p, const char *end)
{
    const char *name, *sign = NULL;
    while (p < end && (isSPACE_A(*p) || *p == '^'))
        p++;
    name = p;
    if (p == end || !isALPHANUMERIC_A(*p))
        return FALSE;
    if (*p == 'I' && p + 1 < end && (p[1] == 'n' || p[1] == 's'))
        return FALSE;
    for (; p < end; p++) {
        if (*p == '=' || *p == ':') {
            if (sign)
                return FALSE; /* `::` names a package */
            sign = p;
        } else if (!isWORDCHAR_A(*p) && !isSPACE_A(*p) && !memCHRs("-./&+", *p))
            return FALSE;
    }
    return !sign || !has_active_value(name, sign, end);
}

/* Checks the text after `\p` or `\P`. */
static bool
is_inert_property(const char *p, const char *end)
{
    const char *close;
    p = skip_blanks(p, end);
    if (p == end)
        return FALSE;
    if (*p != '{')
        return is_own_property(p, p + 1);
    close = (const char *)memchr(p, '}', end - p);
    return close && is_own_property(p + 1, close);
}

/* Checks the text after `\N`: nothing, a quantifier, or the number of a character. */
static bool
is_inert_name(const char *p, const char *end)
{
    const char *close;
    bool is_number;
    p = skip_blanks(p, end);
    if (p == end || *p != '{')
        return TRUE;
    close = (const char *)memchr(p, '}', end - p);
    if (!close)
        return FALSE;
    p = skip_blanks(p + 1, close);
    if (p == close)
        return FALSE;
    is_number = close - p > 2 && p[0] == 'U' && p[1] == '+';
    for (p += is_number ? 2 : 0; p < close; p++)
        if (!(is_number ? isXDIGIT_A(*p) || *p == '.' || *p == '_' : isDIGIT_A(*p) || *p == ',') && !isSPACE_A(*p))
            return FALSE;
    return TRUE;
}

/* Whether the text after `(` begins code. */
static bool
is_code(const char *p, const char *end)
{
    p = skip_blanks(p, end);
    if (p == end || (*p != '?' && *p != '*'))
        return FALSE;
    while (p < end && (isSPACE_A(*p) || memCHRs("?*p", *p)))
        p++;
    return p < end && *p == '{';
}

/* Whether compiling a pattern runs no code and loads no module. */
static bool
is_inert(const char *text, STRLEN len)
{
    const char *p = text, *end = text + len;
    bool escapes = TRUE;
    /* In comments, and in `\c\`, a backslash escapes nothing. */
    for (; p < end; p++)
        if (*p == '#' || (*p == '\\' && p + 1 < end && p[1] == 'c'))
            escapes = FALSE;
    for (p = text; p < end; p++) {
        if (*p == '(' && is_code(p + 1, end))
            return FALSE;
        if (*p != '\\' || p + 1 == end)
            continue;
        if ((p[1] == 'p' || p[1] == 'P') && !is_inert_property(p + 2, end))
            return FALSE;
        if (p[1] == 'N' && !is_inert_name(p + 2, end))
            return FALSE;
        if (escapes)
            p++;
    }
    return TRUE;
}

/* Builds a record of a pattern and its modifiers, instead of the regexp. */
static void
record_regexp(pTHX_ ib_build *b, SV *variable, U32 at, U32 object, SV *pattern, SV *flags)
{
    const icecore_node *node = &b->v->nodes[at], *outer = object == ICECORE_NONE ? node : &b->v->nodes[object];
    HV *hv = newHV();
    ib_set_rv(aTHX_ variable, (SV *)hv);
    (void)hv_stores(hv, "kind", newSVpvs("regexp"));
    (void)hv_stores(hv, "value", SvREFCNT_inc_simple_NN(pattern));
    (void)hv_stores(hv, "flags", SvREFCNT_inc_simple_NN(flags));
    if (object != ICECORE_NONE) {
        const char *class;
        const icecore_name *name = ib_class_name(aTHX_ b, outer, &class);
        (void)hv_stores(hv, "class", ib_class_sv(aTHX_ name, class));
    } else if (node->flags & ICECORE_FLAG_BARE)
        (void)hv_stores(hv, "bare", newSVpv(node->flags & ICECORE_FLAG_REF ? "reference" : "variable", 0));
    else
        (void)hv_stores(hv, "class", newSVpvs("Regexp"));
    if (outer->flags & ICECORE_FLAG_OVERLOAD)
        (void)hv_stores(hv, "overloaded", newSViv(1));
    sv_bless(variable, gv_stashpvs("Icecore::Record", GV_ADD));
    ib_container_refs(aTHX_ b, variable, (SV *)hv, at, ICECORE_NONE);
    if (object != ICECORE_NONE && outer->flags & ICECORE_FLAG_TARGET)
        ib_set_referent(aTHX_ b, object, (SV *)hv);
    if (object != ICECORE_NONE && outer->flags & ICECORE_FLAG_WEAK)
        ib_be_weak(aTHX_ b, variable);
}

void
ib_check_regexp(pTHX_ ib_build *b, U32 at)
{
    SV *pattern = ib_part(aTHX_ b, at + 1), *flags = ib_part(aTHX_ b, ice_next(b->v, at + 1));
    if (is_inert(SvPVX_const(pattern), SvCUR(pattern))) {
        /* Its warnings are issued when it is built. */
        ENTER;
        SAVEI8(PL_dowarn);
        PL_dowarn = (PL_dowarn & ~(G_WARN_ON | G_WARN_ALL_ON)) | G_WARN_ALL_OFF;
        SvREFCNT_dec(ice_regexp(aTHX_ pattern, SvPVX_const(flags), SvCUR(flags)));
        LEAVE;
    }
}

void
ib_regexp(pTHX_ ib_build *b, SV *variable, U32 at, U32 object)
{
    const icecore_node *node = &b->v->nodes[at];
    SV *pattern = ib_part(aTHX_ b, at + 1), *flags = ib_part(aTHX_ b, ice_next(b->v, at + 1)), *re;
    b->at = (U32)node->payload;
    /* A pattern of the program itself was compiled before. */
    if (!b->set->cloning && !is_inert(SvPVX_const(pattern), SvCUR(pattern))) {
        record_regexp(aTHX_ b, variable, at, object, pattern, flags);
        return;
    }
    re = ice_regexp(aTHX_ pattern, SvPVX_const(flags), SvCUR(flags));
    if (node->flags & ICECORE_FLAG_BARE && object == ICECORE_NONE) {
        /* The variable is itself a regexp. */
        sv_setsv(variable, sv_2mortal(re));
        return;
    }
    ib_set_rv(aTHX_ variable, re);
    if (object == ICECORE_NONE && (b->set->bless_ok || !b->set->bare_regexps))
        sv_bless(variable, gv_stashpvs("Regexp", GV_ADD));
    ib_container_refs(aTHX_ b, variable, re, at, object);
}
