/* Which classes may be built: passes perl's values to the engine's rules.
 *
 * The engine handles names and patterns; hashes and regexps are handled by perl. Any
 * value may have magic or be overloaded, and run code that changes another one. So plain
 * strings are passed several at a time, and all others one by one. */
#include "core/icecore_perl.h"

/* The lists of the process: `allowed`, and `otherwise` for the other classes. Found
 * once, because a look-up by name costs more than a question. */
#define MY_CXT_KEY "Icecore::policy" XS_VERSION
typedef struct {
    GV *allowed, *otherwise;
} my_cxt_t;
START_MY_CXT

static GV *
variable(pTHX_ const char *name, svtype type)
{
    return (GV *)SvREFCNT_inc_simple_NN((SV *)gv_fetchpv(name, GV_ADDMULTI, type));
}

static void
start(pTHX_ my_cxt_t *cxt)
{
    cxt->allowed = variable(aTHX_ "Icecore::ALLOWED", SVt_PVAV);
    cxt->otherwise = variable(aTHX_ "Icecore::CLASSES", SVt_PV);
}

void
ice_policy_boot(pTHX)
{
    MY_CXT_INIT;
    start(aTHX_ & MY_CXT);
}

void
ice_policy_clone(pTHX)
{
    MY_CXT_CLONE;
    start(aTHX_ & MY_CXT);
}

typedef struct {
    icecore_question *question;
    const char *name;
    STRLEN len;
    bool is_utf8;
} asked;

static SV *
name_sv(pTHX_ const asked *a)
{
    return sv_2mortal(newSVpvn_utf8(a->name, a->len, a->is_utf8));
}

static bool
regexp_allows(pTHX_ const asked *a, SV *item)
{
    SV *text = name_sv(aTHX_ a);
    char *start = SvPVX(text);
    return pregexec(SvRX(item), start, start + a->len, start, 1, text, 1) > 0;
}

static icecore_class_name
lent_name(const char *text, STRLEN len, bool is_utf8)
{
    icecore_class_name name;
    name.bytes = (const U8 *)text;
    name.len = len;
    name.is_text = is_utf8;
    return name;
}

/* The ask_ functions return whether the question is finally answered. */
static bool
ask_item(pTHX_ const asked *a, SV *item)
{
    icecore_class_name pattern;
    const char *text;
    STRLEN len;
    if (SvROK(item) && SvRXOK(item))
        return regexp_allows(aTHX_ a, item) && icecore_question_allow(a->question);
    text = SvPV(item, len);
    pattern = lent_name(text, len, cBOOL(SvUTF8(item)));
    return icecore_question_items(a->question, &pattern, 1);
}

#define LENT 16

static bool
ask_list(pTHX_ const asked *a, AV *list)
{
    icecore_class_name lent[LENT];
    size_t count = 0;
    SSize_t i;
    for (i = 0; i <= av_len(list); i++) {
        SV **found = av_fetch(list, i, 0), *item = found ? *found : NULL;
        const bool is_plain = item && SvPOK(item) && !SvROK(item) && !SvGMAGICAL(item);
        if (!item || (!is_plain && !SvOK(item)))
            continue;
        if (is_plain)
            lent[count++] = lent_name(SvPVX_const(item), SvCUR(item), cBOOL(SvUTF8(item)));
        if (count == LENT || (count && !is_plain)) {
            if (icecore_question_items(a->question, lent, count))
                return TRUE;
            count = 0;
        }
        if (!is_plain && ask_item(aTHX_ a, item))
            return TRUE;
    }
    return count && icecore_question_items(a->question, lent, count);
}

/* Returns the meaning of a word; 0: it is the name of a class. */
static U32
word_of(pTHX_ SV *sv)
{
    STRLEN len;
    const char *text = SvPV(sv, len);
    return icecore_policy_word(text, len);
}

/* Asks a word, a list or nothing. */
static bool
ask_option(pTHX_ const asked *a, SV *classes)
{
    U32 word;
    if (!classes || !SvOK(classes))
        return FALSE;
    if (SvROK(classes) && !SvRXOK(classes)) {
        if (SvTYPE(SvRV(classes)) == SVt_PVAV)
            return ask_list(aTHX_ a, (AV *)SvRV(classes));
        if (SvTYPE(SvRV(classes)) == SVt_PVHV)
            return hv_exists_ent((HV *)SvRV(classes), name_sv(aTHX_ a), 0) && icecore_question_allow(a->question);
        croak("Icecore: `classes` is a list of names, 'any', 'any,report', 'record' or 'report'");
    }
    if (!SvROK(classes) && (word = word_of(aTHX_ classes)))
        return icecore_question_otherwise(a->question, word);
    return ask_item(aTHX_ a, classes);
}

/* ---- messages about classes --------------------------------------------- */

/* Returns a message about a class: a mortal. */
static SV *
words(pTHX_ U32 what, const asked *a, const char *path)
{
    const icecore_class_name name = lent_name(a->name, a->len, a->is_utf8);
    const size_t path_len = strlen(path);
    const size_t len = icecore_class_words(what, ICECORE_PERL, &name, 0, path, path_len, NULL, 0);
    SV *text = sv_2mortal(newSV(len + 1));
    icecore_class_words(what, ICECORE_PERL, &name, 0, path, path_len, SvPVX(text), len + 1);
    SvCUR_set(text, len);
    SvPOK_only(text);
    return text;
}

SV *
ice_policy_literal(pTHX_ const char *text, STRLEN len, bool is_utf8)
{
    const asked a = { NULL, text, len, is_utf8 };
    return words(aTHX_ ICECORE_WORDS_LITERAL, &a, "");
}

/* Warns that a class was built, once for each class. */
static void
report(pTHX_ const asked *a)
{
    HV *reported = get_hv("Icecore::REPORTED", GV_ADD);
    SV *class = name_sv(aTHX_ a);
    if (hv_exists_ent(reported, class, 0))
        return;
    (void)hv_store_ent(reported, class, newSViv(1), 0);
    warn("Icecore: %" SVf, SVfARG(words(aTHX_ ICECORE_WORDS_BUILT, a, "")));
}

static bool
says_report(pTHX_ SV *classes)
{
    return classes && SvOK(classes) && !SvROK(classes) && word_of(aTHX_ classes) == ICECORE_ANY_REPORTED;
}

bool
ice_policy_reports(pTHX_ SV *classes)
{
    dMY_CXT;
    return says_report(aTHX_ classes) || says_report(aTHX_ GvSV(MY_CXT.otherwise));
}

/* Returns the meaning of an option that is a word, otherwise 0. */
static U32
word_in(pTHX_ SV *classes)
{
    return classes && SvOK(classes) && !SvROK(classes) ? word_of(aTHX_ classes) : 0;
}

bool
ice_policy_is_any(pTHX_ SV *classes)
{
    U32 word = word_in(aTHX_ classes);
    dMY_CXT;
    /* A word of the call overrides the word of the process. */
    if (!word)
        word = word_in(aTHX_ GvSV(MY_CXT.otherwise));
    return word == ICECORE_ANY || word == ICECORE_ANY_REPORTED;
}

U32
ice_policy(pTHX_ SV *classes, const char *text, STRLEN len, bool is_utf8)
{
    icecore_question question;
    const icecore_class_name name = lent_name(text, len, is_utf8);
    const asked a = { &question, text, len, is_utf8 };
    U32 answer;
    dMY_CXT;
    if (icecore_question_begin(&question, &name, 0, NULL) != ICECORE_OK)
        croak("Icecore: malformed UTF-8 in the name of a class");
    /* In order: the rules of the call, the list of the process, its default. */
    if (!ask_option(aTHX_ & a, classes) && !ask_list(aTHX_ & a, GvAVn(MY_CXT.allowed)))
        ask_option(aTHX_ & a, GvSV(MY_CXT.otherwise));
    answer = icecore_question_answer(&question);
    if (answer == (ICECORE_ALLOWED | ICECORE_REPORTED)) {
        report(aTHX_ & a);
        return ICECORE_ALLOWED;
    }
    return answer;
}

/* ---- names ----------------------------------------------------------------- */

static bool
names_item(pTHX_ SV *name, SV *item)
{
    return item && SvOK(item) && !(SvROK(item) && SvRXOK(item)) && sv_eq(item, name);
}

static bool
names_in(pTHX_ SV *name, SV *classes)
{
    AV *list;
    SSize_t i;
    if (!classes || !SvOK(classes))
        return FALSE;
    if (!SvROK(classes))
        return names_item(aTHX_ name, classes);
    if (SvTYPE(SvRV(classes)) == SVt_PVHV)
        return cBOOL(hv_exists_ent((HV *)SvRV(classes), name, 0));
    if (SvTYPE(SvRV(classes)) != SVt_PVAV)
        return FALSE;
    list = (AV *)SvRV(classes);
    for (i = 0; i <= av_len(list); i++) {
        SV **item = av_fetch(list, i, 0);
        if (item && names_item(aTHX_ name, *item))
            return TRUE;
    }
    return FALSE;
}

bool
ice_policy_names(pTHX_ SV *classes, SV *name)
{
    dMY_CXT;
    return names_in(aTHX_ name, classes) || names_in(aTHX_ name, sv_2mortal(newRV_inc((SV *)GvAVn(MY_CXT.allowed))));
}

/* ---- all refused classes ------------------------------------------------ */

void
ice_policy_list(pTHX_ ice_refused *refused, const char *text, STRLEN len, bool is_utf8, const char *path)
{
    const asked a = { NULL, text, len, is_utf8 };
    SV *literal;
    if (!refused->count) {
        refused->only = words(aTHX_ ICECORE_WORDS_REFUSED, &a, path);
        refused->places = sv_2mortal(newSVpvs(""));
        refused->names = sv_2mortal(newSVpvs(""));
        refused->keys = sv_2mortal(newSVpvs(""));
    }
    if (++refused->count > ICE_LISTED)
        return;
    literal = words(aTHX_ ICECORE_WORDS_LITERAL, &a, "");
    refused->has_wildcard |= len && memchr(text, '*', len) != NULL;
    sv_catpvf(refused->places, "%s%" SVf " at %s", refused->count > 1 ? ", " : "",
              SVfARG(words(aTHX_ ICECORE_WORDS_SHOWN, &a, "")), path);
    sv_catpvf(refused->names, "%s%" SVf, refused->count > 1 ? ", " : "", SVfARG(literal));
    sv_catpvf(refused->keys, "%s%" SVf " => 1", refused->count > 1 ? ", " : "", SVfARG(literal));
}

void
ice_policy_refuse_all(pTHX_ const ice_refused *refused)
{
    SV *more = sv_2mortal(newSVpvs(""));
    if (refused->count == 1)
        croak("Icecore: %" SVf, SVfARG(refused->only));
    if (refused->count > ICE_LISTED)
        sv_catpvf(more, ", and %" UVuf " more", (UV)(refused->count - ICE_LISTED));
    /* In a list a wildcard matches any name; a hash has exact names. */
    if (refused->has_wildcard)
        croak("Icecore: these classes are not allowed: %" SVf "%" SVf "; allow them with classes => { %" SVf " }",
              SVfARG(refused->places), SVfARG(more), SVfARG(refused->keys));
    croak("Icecore: these classes are not allowed: %" SVf "%" SVf "; allow them with classes => [%" SVf
          "], in this call or for all with Icecore->allow(%" SVf ")",
          SVfARG(refused->places), SVfARG(more), SVfARG(refused->names), SVfARG(refused->names));
}
