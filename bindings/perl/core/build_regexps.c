/* Regexps: which patterns are compiled, and what replaces the others.
 *
 * Compiling a pattern can run code: a property may be a sub of the program, `\N{...}`
 * loads the names of characters, and `(?{...})` is code itself. Such a pattern becomes a
 * record, and so does one that is too unusual to be sure. */
#include "core/build.h"

/* Returns the end of the blanks at `p`. */
static const char *
skip_blanks(const char *text_at, const char *end)
{
    while (text_at < end && isSPACE_A(*text_at))
        text_at++;
    return text_at;
}

/* Whether the value of a property is looked up in the names of characters, or is a
 * pattern itself. */
static bool
may_run_code(const char *name, const char *separator, const char *end)
{
    const char *value = skip_blanks(separator + 1, end), *text_at = skip_blanks(value + 1, end);
    /* Blanks, `_` and `-` in a name are ignored. */
    const char *second = name + 1;
    while (second < separator && !isALPHANUMERIC_A(*second))
        second++;
    if (toLOWER_A(*name) == 'n' && second < separator && toLOWER_A(*second) == 'a')
        return TRUE;
    if (value == end)
        return TRUE;
    if (toLOWER_A(*value) == 'm' && text_at < end && !isWORDCHAR_A(*text_at))
        return TRUE;
    for (text_at = value; text_at < end; text_at++)
        if (*text_at == '/' && !(text_at > value && isDIGIT_A(text_at[-1])))
            return TRUE;
    return FALSE;
}

/* Whether the name of a property can only be one of Unicode's own. */
static bool
is_unicode_property(const char *text_at, const char *end)
{
    const char *name, *separator = NULL;
    while (text_at < end && (isSPACE_A(*text_at) || *text_at == '^'))
        text_at++;
    name = text_at;
    if (text_at == end || !isALPHANUMERIC_A(*text_at))
        return FALSE;
    if (*text_at == 'I' && text_at + 1 < end && (text_at[1] == 'n' || text_at[1] == 's'))
        return FALSE;
    for (; text_at < end; text_at++) {
        if (*text_at == '=' || *text_at == ':') {
            if (separator)
                return FALSE; /* `::` names a package */
            separator = text_at;
        } else if (!isWORDCHAR_A(*text_at) && !isSPACE_A(*text_at) && !memCHRs("-./&+", *text_at))
            return FALSE;
    }
    return !separator || !may_run_code(name, separator, end);
}

/* Checks the text after `\p` or `\P`. */
static bool
is_harmless_property(const char *text_at, const char *end)
{
    const char *closing_brace;
    text_at = skip_blanks(text_at, end);
    if (text_at == end)
        return FALSE;
    if (*text_at != '{')
        return is_unicode_property(text_at, text_at + 1);
    closing_brace = (const char *)memchr(text_at, '}', end - text_at);
    return closing_brace && is_unicode_property(text_at + 1, closing_brace);
}

/* Checks the text after `\N`: nothing, a quantifier, or the number of a character. */
static bool
is_harmless_name(const char *text_at, const char *end)
{
    const char *closing_brace;
    bool is_number;
    text_at = skip_blanks(text_at, end);
    if (text_at == end || *text_at != '{')
        return TRUE;
    closing_brace = (const char *)memchr(text_at, '}', end - text_at);
    if (!closing_brace)
        return FALSE;
    text_at = skip_blanks(text_at + 1, closing_brace);
    if (text_at == closing_brace)
        return FALSE;
    is_number = closing_brace - text_at > 2 && text_at[0] == 'U' && text_at[1] == '+';
    for (text_at += is_number ? 2 : 0; text_at < closing_brace; text_at++)
        if (!(is_number ? isXDIGIT_A(*text_at) || *text_at == '.' || *text_at == '_'
                        : isDIGIT_A(*text_at) || *text_at == ',')
            && !isSPACE_A(*text_at))
            return FALSE;
    return TRUE;
}

/* Whether the text after `(` begins code. */
static bool
begins_code(const char *text_at, const char *end)
{
    text_at = skip_blanks(text_at, end);
    if (text_at == end || (*text_at != '?' && *text_at != '*'))
        return FALSE;
    while (text_at < end && (isSPACE_A(*text_at) || memCHRs("?*p", *text_at)))
        text_at++;
    return text_at < end && *text_at == '{';
}

/* Whether compiling a pattern runs no code and loads no module. */
static bool
is_harmless_pattern(const char *text, STRLEN len)
{
    const char *text_at = text, *end = text + len;
    bool backslash_escapes = TRUE;
    /* In comments, and in `\c\`, a backslash escapes nothing. */
    for (; text_at < end; text_at++)
        if (*text_at == '#' || (*text_at == '\\' && text_at + 1 < end && text_at[1] == 'c'))
            backslash_escapes = FALSE;
    for (text_at = text; text_at < end; text_at++) {
        if (*text_at == '(' && begins_code(text_at + 1, end))
            return FALSE;
        if (*text_at != '\\' || text_at + 1 == end)
            continue;
        if ((text_at[1] == 'p' || text_at[1] == 'P') && !is_harmless_property(text_at + 2, end))
            return FALSE;
        if (text_at[1] == 'N' && !is_harmless_name(text_at + 2, end))
            return FALSE;
        if (backslash_escapes)
            text_at++;
    }
    return TRUE;
}

/* Builds a record of a pattern and its modifiers, instead of the regexp. */
static void
record_regexp(pTHX_ ib_builder *b, SV *variable, U32 index, U32 object, SV *pattern, SV *flags)
{
    const icecore_node *node = &b->view->nodes[index],
                       *outer = object == ICECORE_NONE ? node : &b->view->nodes[object];
    HV *hv = newHV();
    ib_make_reference(aTHX_ variable, (SV *)hv);
    (void)hv_stores(hv, "kind", newSVpvs("regexp"));
    (void)hv_stores(hv, "value", SvREFCNT_inc_simple_NN(pattern));
    (void)hv_stores(hv, "flags", SvREFCNT_inc_simple_NN(flags));
    if (object != ICECORE_NONE) {
        const char *class;
        const icecore_name *name = ib_class_name(aTHX_ b, outer, &class);
        (void)hv_stores(hv, "class", ib_class_name_sv(aTHX_ name, class));
    } else if (node->flags & ICECORE_FLAG_BARE)
        (void)hv_stores(hv, "bare", newSVpv(node->flags & ICECORE_FLAG_REF ? "reference" : "variable", 0));
    else
        (void)hv_stores(hv, "class", newSVpvs("Regexp"));
    if (outer->flags & ICECORE_FLAG_OVERLOAD)
        (void)hv_stores(hv, "overloaded", newSViv(1));
    sv_bless(variable, gv_stashpvs("Icecore::Record", GV_ADD));
    ib_register_container(aTHX_ b, variable, (SV *)hv, index, ICECORE_NONE);
    if (object != ICECORE_NONE && outer->flags & ICECORE_FLAG_TARGET)
        ib_set_referent(aTHX_ b, object, (SV *)hv);
    if (object != ICECORE_NONE && outer->flags & ICECORE_FLAG_WEAK)
        ib_weaken_later(aTHX_ b, variable);
}

void
ib_check_regexp(pTHX_ ib_builder *b, U32 index)
{
    SV *pattern = ib_part_string(aTHX_ b, index + 1), *flags = ib_part_string(aTHX_ b, ice_next(b->view, index + 1));
    if (is_harmless_pattern(SvPVX_const(pattern), SvCUR(pattern))) {
        /* Its warnings are issued when it is built. */
        ENTER;
        SAVEI8(PL_dowarn);
        PL_dowarn = (PL_dowarn & ~(G_WARN_ON | G_WARN_ALL_ON)) | G_WARN_ALL_OFF;
        SvREFCNT_dec(ice_compile_regexp(aTHX_ pattern, SvPVX_const(flags), SvCUR(flags)));
        LEAVE;
    }
}

void
ib_build_regexp(pTHX_ ib_builder *b, SV *variable, U32 index, U32 object)
{
    const icecore_node *node = &b->view->nodes[index];
    SV *pattern = ib_part_string(aTHX_ b, index + 1), *flags = ib_part_string(aTHX_ b, ice_next(b->view, index + 1)),
       *re;
    b->next = (U32)node->payload;
    /* A pattern of the program itself was compiled before. */
    if (!b->settings->cloning && !is_harmless_pattern(SvPVX_const(pattern), SvCUR(pattern))) {
        record_regexp(aTHX_ b, variable, index, object, pattern, flags);
        return;
    }
    re = ice_compile_regexp(aTHX_ pattern, SvPVX_const(flags), SvCUR(flags));
    if (node->flags & ICECORE_FLAG_BARE && object == ICECORE_NONE) {
        /* The variable is itself a regexp. */
        sv_setsv(variable, sv_2mortal(re));
        return;
    }
    ib_make_reference(aTHX_ variable, re);
    if (object == ICECORE_NONE && (b->settings->bless_ok || !b->settings->bare_regexps))
        sv_bless(variable, gv_stashpvs("Regexp", GV_ADD));
    ib_register_container(aTHX_ b, variable, re, index, object);
}
