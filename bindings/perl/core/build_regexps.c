/* Builds regexps, and decides which patterns are compiled.
 *
 * Compiling a pattern can run code, because a property may be a sub of the program, `\N{...}` loads
 * the names of characters, and `(?{...})` is code itself. A pattern that may run code becomes a
 * record instead. The checks here recognize harmless patterns. All other patterns count as harmful,
 * even if they only look unusual. */
#include "core/build.h"

/* Returns the end of the blanks at `cursor`. */
static const char *
skip_blanks(const char *cursor, const char *end)
{
    while (cursor < end && isSPACE_A(*cursor))
        cursor++;
    return cursor;
}

/* Returns true if the value of a property, after `separator`, may run code: if it is looked up
 * in the names of characters (`\p{name=...}`), or is a pattern itself (`\p{script=/.../}`). */
static bool
may_run_code(const char *name, const char *separator, const char *end)
{
    const char *value = skip_blanks(separator + 1, end), *cursor = skip_blanks(value + 1, end);
    /* perl ignores blanks, `_` and `-` in a name. The name `name`, or its abbreviation `na`, begins
     * with the letters n and a, so any such name counts as harmful. */
    const char *second = name + 1;
    while (second < separator && !isALPHANUMERIC_A(*second))
        second++;
    if (toLOWER_A(*name) == 'n' && second < separator && toLOWER_A(*second) == 'a')
        return TRUE;
    if (value == end)
        return TRUE;
    if (toLOWER_A(*value) == 'm' && cursor < end && !isWORDCHAR_A(*cursor))
        return TRUE;
    for (cursor = value; cursor < end; cursor++)
        if (*cursor == '/' && !(cursor > value && isDIGIT_A(cursor[-1])))
            return TRUE;
    return FALSE;
}

/* Returns true if the text is a property that only Unicode can define, not the program. */
static bool
is_unicode_property(const char *cursor, const char *end)
{
    const char *name, *separator = NULL;
    while (cursor < end && (isSPACE_A(*cursor) || *cursor == '^'))
        cursor++;
    name = cursor;
    if (cursor == end || !isALPHANUMERIC_A(*cursor))
        return FALSE;
    /* Subs that define properties have names with `In` or `Is`. */
    if (*cursor == 'I' && cursor + 1 < end && (cursor[1] == 'n' || cursor[1] == 's'))
        return FALSE;
    for (; cursor < end; cursor++) {
        if (*cursor == '=' || *cursor == ':') {
            if (separator)
                return FALSE; /* `::` names a package */
            separator = cursor;
        } else if (!isWORDCHAR_A(*cursor) && !isSPACE_A(*cursor) && !memCHRs("-./&+", *cursor))
            return FALSE;
    }
    return !separator || !may_run_code(name, separator, end);
}

/* Returns true if the text after `\p` or `\P` runs no code. */
static bool
is_harmless_property(const char *cursor, const char *end)
{
    const char *closing_brace;
    cursor = skip_blanks(cursor, end);
    if (cursor == end)
        return FALSE;
    if (*cursor != '{')
        return is_unicode_property(cursor, cursor + 1);
    closing_brace = (const char *)memchr(cursor, '}', end - cursor);
    return closing_brace && is_unicode_property(cursor + 1, closing_brace);
}

/* Returns true if the text after `\N` is not the name of a character: it is a quantifier, the
 * number of a character (`{U+263A}`), or something else without braces. */
static bool
is_harmless_name(const char *cursor, const char *end)
{
    const char *closing_brace;
    bool is_number;
    cursor = skip_blanks(cursor, end);
    if (cursor == end || *cursor != '{')
        return TRUE;
    closing_brace = (const char *)memchr(cursor, '}', end - cursor);
    if (!closing_brace)
        return FALSE;
    cursor = skip_blanks(cursor + 1, closing_brace);
    if (cursor == closing_brace)
        return FALSE;
    is_number = closing_brace - cursor > 2 && cursor[0] == 'U' && cursor[1] == '+';
    for (cursor += is_number ? 2 : 0; cursor < closing_brace; cursor++)
        if (!(is_number ? isXDIGIT_A(*cursor) || *cursor == '.' || *cursor == '_'
                        : isDIGIT_A(*cursor) || *cursor == ',')
            && !isSPACE_A(*cursor))
            return FALSE;
    return TRUE;
}

/* Returns true if the text after `(` begins code, as in `(?{` or `(??{`. */
static bool
begins_code(const char *cursor, const char *end)
{
    cursor = skip_blanks(cursor, end);
    if (cursor == end || (*cursor != '?' && *cursor != '*'))
        return FALSE;
    while (cursor < end && (isSPACE_A(*cursor) || memCHRs("?*p", *cursor)))
        cursor++;
    return cursor < end && *cursor == '{';
}

/* Returns true if compiling a pattern runs no code and loads no module. */
static bool
is_harmless_pattern(const char *text, STRLEN len)
{
    const char *cursor = text, *end = text + len;
    bool backslash_escapes = TRUE;
    /* A backslash in a comment, or the second one in `\c\`, escapes nothing. If the pattern may
     * contain a comment or `\c`, the character after a backslash is not skipped below, so that it
     * is also checked by itself. */
    for (; cursor < end; cursor++)
        if (*cursor == '#' || (*cursor == '\\' && cursor + 1 < end && cursor[1] == 'c'))
            backslash_escapes = FALSE;
    for (cursor = text; cursor < end; cursor++) {
        if (*cursor == '(' && begins_code(cursor + 1, end))
            return FALSE;
        if (*cursor != '\\' || cursor + 1 == end)
            continue;
        if ((cursor[1] == 'p' || cursor[1] == 'P') && !is_harmless_property(cursor + 2, end))
            return FALSE;
        if (cursor[1] == 'N' && !is_harmless_name(cursor + 2, end))
            return FALSE;
        if (backslash_escapes)
            cursor++;
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
    SV *pattern = ib_child_string(aTHX_ b, index + 1), *flags = ib_child_string(aTHX_ b, ice_next(b->view, index + 1));
    if (is_harmless_pattern(SvPVX_const(pattern), SvCUR(pattern))) {
        /* perl warns about the pattern when it is built, so it need not warn here. */
        ENTER;
        SAVEI8(PL_dowarn);
        PL_dowarn = (PL_dowarn & ~(G_WARN_ON | G_WARN_ALL_ON)) | G_WARN_ALL_OFF;
        SvREFCNT_dec(ice_compile_regexp(aTHX_ pattern, SvPVX_const(flags), SvCUR(flags)));
        LEAVE;
    }
}

/* Builds a regexp, or a record if compiling it may run code. */
void
ib_build_regexp(pTHX_ ib_builder *b, SV *variable, U32 index, U32 object)
{
    const icecore_node *node = &b->view->nodes[index];
    SV *pattern = ib_child_string(aTHX_ b, index + 1), *flags = ib_child_string(aTHX_ b, ice_next(b->view, index + 1)),
       *re;
    b->next = (U32)node->payload;
    /* dclone copies a pattern that the program itself has compiled. */
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
