/* Which classes may be built. */
#include "core/icecore_perl.h"

/* What the process allows: names and patterns. */
static AV *
allowed(pTHX)
{
    return get_av("Icecore::ALLOWED", GV_ADD);
}

/* Whether a name matches a pattern, in which `*` stands for anything. */
static bool
matches(const char *pattern, STRLEN pattern_len, const char *name, STRLEN len)
{
    const char *p = pattern, *pend = pattern + pattern_len, *n = name, *nend = name + len;
    const char *star = NULL, *resume = NULL;
    while (n < nend) {
        if (p < pend && *p == '*') {
            star = p++;
            resume = n;
        } else if (p < pend && *p == *n) {
            p++;
            n++;
        } else if (star) {
            p = star + 1;
            n = ++resume;
        } else
            return FALSE;
    }
    while (p < pend && *p == '*')
        p++;
    return p == pend;
}

static bool
is_word(pTHX_ SV *sv, const char *word)
{
    STRLEN len;
    const char *text = SvPV(sv, len);
    return len == strlen(word) && memEQ(text, word, len);
}

static bool
item_allows(pTHX_ SV *item, const char *name, STRLEN len, bool is_utf8)
{
    STRLEN pattern_len;
    const char *pattern;
    if (SvROK(item) && SvRXOK(item)) {
        SV *text = sv_2mortal(newSVpvn_utf8(name, len, is_utf8));
        REGEXP *re = SvRX(item);
        char *start = SvPVX(text);
        return pregexec(re, start, start + len, start, 1, text, 1) > 0;
    }
    pattern = SvPV(item, pattern_len);
    /* Characters are compared: bytes that happen to be the UTF-8 of a name are
     * another name. */
    if (cBOOL(SvUTF8(item)) == is_utf8 || (is_utf8 && ice_is_ascii((const U8 *)pattern, pattern_len))
        || (!is_utf8 && ice_is_ascii((const U8 *)name, len)))
        return matches(pattern, pattern_len, name, len);
    if (is_utf8) {
        SV *text = sv_2mortal(newSVpvn(pattern, pattern_len));
        pattern = SvPVutf8(text, pattern_len);
    } else {
        SV *text = sv_2mortal(newSVpvn(name, len));
        name = SvPVutf8(text, len);
    }
    return matches(pattern, pattern_len, name, len);
}

static bool
list_allows(pTHX_ AV *list, const char *name, STRLEN len, bool is_utf8)
{
    SSize_t i;
    for (i = 0; i <= av_len(list); i++) {
        SV **item = av_fetch(list, i, 0);
        if (item && SvOK(*item) && item_allows(aTHX_ *item, name, len, is_utf8))
            return TRUE;
    }
    return FALSE;
}

/* ---- words about classes ------------------------------------------------ */

/* The name of a class as a literal of perl's that is exactly this name. A mortal. */
static SV *
literal(pTHX_ const char *name, STRLEN len, bool is_utf8)
{
    const U8 *p = (const U8 *)name, *end = p + len;
    SV *text = sv_2mortal(newSVpvs(""));
    bool is_plain = TRUE;
    for (; p < end; p++)
        if (!isPRINT_A(*p) || *p == '\'' || (*p == '\\' && (p + 1 == end || p[1] == '\\')))
            is_plain = FALSE; /* other backslashes mean themselves */
    if (is_plain) {
        sv_catpvs(text, "'");
        sv_catpvn(text, name, len);
        sv_catpvs(text, "'");
        return text;
    }
    sv_catpvs(text, "\"");
    for (p = (const U8 *)name; p < end;) {
        STRLEN size = 1;
        const UV character = is_utf8 ? utf8n_to_uvchr(p, end - p, &size, UTF8_ALLOW_ANY) : *p;
        if (character > 0x7E || !isPRINT_A((U8)character))
            sv_catpvf(text, "\\x{%" UVxf "}", character);
        else {
            if (memCHRs("\"\\$@", (char)character))
                sv_catpvs(text, "\\");
            sv_catpvf(text, "%c", (int)character);
        }
        p += size && size <= (STRLEN)(end - p) ? size : 1;
    }
    sv_catpvs(text, "\"");
    return text;
}

/* The name itself where there is nothing odd about it. */
static SV *
shown(pTHX_ const char *name, STRLEN len, bool is_utf8)
{
    STRLEN i;
    for (i = 0; i < len; i++)
        if (!isWORDCHAR_A(name[i]) && !memCHRs(":\\", name[i]))
            return literal(aTHX_ name, len, is_utf8);
    return len ? sv_2mortal(newSVpvn(name, len)) : literal(aTHX_ name, len, is_utf8);
}

/* How a class is allowed. In a list, a name that holds a wildcard would allow others
 * too. */
static SV *
remedy(pTHX_ const char *name, STRLEN len, bool is_utf8)
{
    SV *quoted = literal(aTHX_ name, len, is_utf8);
    if (memchr(name, '*', len))
        return sv_2mortal(newSVpvf("its name holds a wildcard, which in a list stands for any name: a hash has exact names, "
                                   "classes => { %" SVf " => 1 }", SVfARG(quoted)));
    return sv_2mortal(newSVpvf("allow it with classes => [%" SVf "]", SVfARG(quoted)));
}

/* Says once for each class that it was built. */
static void
report(pTHX_ const char *name, STRLEN len, bool is_utf8)
{
    HV *reported = get_hv("Icecore::REPORTED", GV_ADD);
    SV *class = sv_2mortal(newSVpvn_utf8(name, len, is_utf8));
    if (hv_exists_ent(reported, class, 0))
        return;
    (void)hv_store_ent(reported, class, newSViv(1), 0);
    warn("Icecore: the class %" SVf " was built from data; %" SVf, SVfARG(shown(aTHX_ name, len, is_utf8)),
         SVfARG(remedy(aTHX_ name, len, is_utf8)));
}

/* What a word, a list or nothing says: ICE_REFUSED, if nothing. */
static int
asked(pTHX_ SV *classes, const char *name, STRLEN len, bool is_utf8)
{
    if (!classes || !SvOK(classes))
        return ICE_REFUSED;
    if (SvROK(classes) && !SvRXOK(classes)) {
        if (SvTYPE(SvRV(classes)) == SVt_PVAV)
            return list_allows(aTHX_ (AV *)SvRV(classes), name, len, is_utf8) ? ICE_ALLOWED : ICE_REFUSED;
        if (SvTYPE(SvRV(classes)) == SVt_PVHV)
            return hv_exists_ent((HV *)SvRV(classes), sv_2mortal(newSVpvn_utf8(name, len, is_utf8)), 0) ? ICE_ALLOWED
                                                                                                        : ICE_REFUSED;
        croak("Icecore: `classes` is a list of names, 'any', 'any,report' or 'record'");
    }
    if (!SvROK(classes)) {
        if (is_word(aTHX_ classes, "any"))
            return ICE_ALLOWED;
        if (is_word(aTHX_ classes, "any,report")) {
            report(aTHX_ name, len, is_utf8);
            return ICE_ALLOWED;
        }
        if (is_word(aTHX_ classes, "record"))
            return ICE_AS_RECORD;
    }
    return item_allows(aTHX_ classes, name, len, is_utf8) ? ICE_ALLOWED : ICE_REFUSED;
}

bool
ice_policy_reports(pTHX_ SV *classes)
{
    SV *process = get_sv("Icecore::CLASSES", 0);
    return (classes && SvOK(classes) && !SvROK(classes) && is_word(aTHX_ classes, "any,report"))
           || (process && SvOK(process) && !SvROK(process) && is_word(aTHX_ process, "any,report"));
}

int
ice_policy(pTHX_ SV *classes, const char *name, STRLEN len, bool is_utf8)
{
    int verdict;
    SV *process;
    if (is_utf8 && !ice_is_utf8((const U8 *)name, len))
        croak("Icecore: malformed UTF-8 in the name of a class");
    verdict = asked(aTHX_ classes, name, len, is_utf8);
    if (verdict == ICE_ALLOWED)
        return verdict;
    if (list_allows(aTHX_ allowed(aTHX), name, len, is_utf8))
        return ICE_ALLOWED;
    if (verdict != ICE_REFUSED)
        return verdict;
    process = get_sv("Icecore::CLASSES", 0);
    return process ? asked(aTHX_ process, name, len, is_utf8) : ICE_REFUSED;
}

void
ice_policy_refuse(pTHX_ const char *name, STRLEN len, bool is_utf8, const char *path)
{
    const bool in_list = len && !memchr(name, '*', len);
    SV *how = remedy(aTHX_ name, len, is_utf8);
    if (in_list)
        sv_catpvf(how, ", in this call or for all with Icecore->allow(%" SVf ")",
                  SVfARG(literal(aTHX_ name, len, is_utf8)));
    croak("Icecore: the class %" SVf " at %s is not allowed; %" SVf, SVfARG(shown(aTHX_ name, len, is_utf8)), path,
          SVfARG(how));
}
