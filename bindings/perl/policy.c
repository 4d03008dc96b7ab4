/* Which classes may be built. */
#include "icecore_perl.h"

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
    pattern = is_utf8 ? SvPVutf8(item, pattern_len) : SvPV(item, pattern_len);
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

/* Says once for each class that it was built. */
static void
report(pTHX_ const char *name, STRLEN len, bool is_utf8)
{
    HV *reported = get_hv("Icecore::REPORTED", GV_ADD);
    SV *class = sv_2mortal(newSVpvn_utf8(name, len, is_utf8));
    if (hv_exists_ent(reported, class, 0))
        return;
    (void)hv_store_ent(reported, class, newSViv(1), 0);
    warn("Icecore: the class %" SVf " was built from data; allow it with classes => ['%" SVf "']", SVfARG(class),
         SVfARG(class));
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
    int verdict = asked(aTHX_ classes, name, len, is_utf8);
    SV *process;
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
ice_policy_refuse(pTHX_ const char *name, STRLEN len, const char *path)
{
    croak("Icecore: the class %.*s at %s is not allowed; allow it with classes => ['%.*s'], in this call or for all with "
          "Icecore->allow('%.*s')",
          (int)len, name, path, (int)len, name, (int)len, name);
}
