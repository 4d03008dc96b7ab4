/* Decides which classes may be built, by passing the lists of the program to the engine's rules.
 *
 * The engine matches names and patterns. perl itself looks names up in hashes and matches
 * regexps. An item of a list may have magic or be overloaded. Reading such an item may run code
 * that changes other items. So only plain strings are passed to the engine several at a time. */
#include "core/icecore_perl.h"

/* The variables with the rules of the process: the list @Icecore::ALLOWED, and
 * $Icecore::CLASSES for all other classes. They are looked up once, because looking a variable
 * up costs more time than a verdict. */
#define MY_CXT_KEY "Icecore::policy" XS_VERSION
typedef struct {
    GV *allowed, *otherwise;
} my_cxt_t;
START_MY_CXT

/* Returns a package variable; creates it if it does not exist. */
static GV *
find_global(pTHX_ const char *name, svtype type)
{
    return (GV *)SvREFCNT_inc_simple_NN((SV *)gv_fetchpv(name, GV_ADDMULTI, type));
}

/* Looks up the variables with the rules of the process. */
static void
init_lists(pTHX_ my_cxt_t *cxt)
{
    cxt->allowed = find_global(aTHX_ "Icecore::ALLOWED", SVt_PVAV);
    cxt->otherwise = find_global(aTHX_ "Icecore::CLASSES", SVt_PV);
}

void
ice_policy_boot(pTHX)
{
    MY_CXT_INIT;
    init_lists(aTHX_ & MY_CXT);
}

void
ice_policy_clone(pTHX)
{
    MY_CXT_CLONE;
    init_lists(aTHX_ & MY_CXT);
}

/* A class on its way through the rules. */
typedef struct {
    icecore_question *question; /* NULL if only a message is needed */
    const char *name;
    STRLEN len;
    bool is_utf8;
} asked_class;

/* Returns the name of a class as a mortal. */
static SV *
name_sv(pTHX_ const asked_class *asked)
{
    return sv_2mortal(newSVpvn_utf8(asked->name, asked->len, asked->is_utf8));
}

/* Returns true if a regexp of a list matches the name of a class. */
static bool
regexp_allows(pTHX_ const asked_class *asked, SV *item)
{
    SV *text = name_sv(aTHX_ asked);
    char *start = SvPVX(text);
    return pregexec(SvRX(item), start, start + asked->len, start, 1, text, 1) > 0;
}

/* Returns a name for the engine, which uses the bytes of the caller. */
static icecore_class_name
borrowed_name(const char *text, STRLEN len, bool is_utf8)
{
    icecore_class_name name;
    name.bytes = (const U8 *)text;
    name.len = len;
    name.is_text = is_utf8;
    return name;
}

/* The ask_ functions return true if the answer is final, so that no other rule is needed. */

/* Evaluates an item of a list: a name, a pattern or a regexp. */
static bool
ask_item(pTHX_ const asked_class *asked, SV *item)
{
    icecore_class_name pattern;
    const char *text;
    STRLEN len;
    if (SvROK(item) && SvRXOK(item))
        return regexp_allows(aTHX_ asked, item) && icecore_question_allow(asked->question);
    text = SvPV(item, len);
    pattern = borrowed_name(text, len, cBOOL(SvUTF8(item)));
    return icecore_question_items(asked->question, &pattern, 1);
}

/* Number of plain strings that are passed to the engine together. */
#define NAMES_AT_ONCE 16

/* Evaluates a list. */
static bool
ask_list(pTHX_ const asked_class *asked, AV *list)
{
    icecore_class_name names[NAMES_AT_ONCE];
    size_t count = 0;
    SSize_t i;
    for (i = 0; i <= av_len(list); i++) {
        SV **found = av_fetch(list, i, 0), *item = found ? *found : NULL;
        const bool is_plain = item && SvPOK(item) && !SvROK(item) && !SvGMAGICAL(item);
        if (!item || (!is_plain && !SvOK(item)))
            continue;
        if (is_plain)
            names[count++] = borrowed_name(SvPVX_const(item), SvCUR(item), cBOOL(SvUTF8(item)));
        /* The names are not copied, and reading the next item may change them. So they are passed
         * to the engine before an item that is not plain. This also keeps the order of the list. */
        if (count == NAMES_AT_ONCE || (count && !is_plain)) {
            if (icecore_question_items(asked->question, names, count))
                return TRUE;
            count = 0;
        }
        if (!is_plain && ask_item(aTHX_ asked, item))
            return TRUE;
    }
    return count && icecore_question_items(asked->question, names, count);
}

/* Returns the meaning of a word such as `any`; 0 if it is the name of a class. */
static U32
policy_word(pTHX_ SV *sv)
{
    STRLEN len;
    const char *text = SvPV(sv, len);
    return icecore_policy_word(text, len);
}

/* Evaluates an option: a word, a name, a regexp, a list, a hash or nothing. */
static bool
ask_option(pTHX_ const asked_class *asked, SV *classes)
{
    U32 word;
    if (!classes || !SvOK(classes))
        return FALSE;
    if (SvROK(classes) && !SvRXOK(classes)) {
        if (SvTYPE(SvRV(classes)) == SVt_PVAV)
            return ask_list(aTHX_ asked, (AV *)SvRV(classes));
        if (SvTYPE(SvRV(classes)) == SVt_PVHV)
            return hv_exists_ent((HV *)SvRV(classes), name_sv(aTHX_ asked), 0)
                && icecore_question_allow(asked->question);
        croak("Icecore: `classes` is a list of names, 'any', 'any,report', 'record' or 'report'");
    }
    if (!SvROK(classes) && (word = policy_word(aTHX_ classes)))
        return icecore_question_otherwise(asked->question, word);
    return ask_item(aTHX_ asked, classes);
}

/* ---- messages about classes --------------------------------------------- */

/* Returns a message about a class: a mortal. `message_kind` is an ICECORE_WORDS_... */
static SV *
class_message(pTHX_ U32 message_kind, const asked_class *asked, const char *path)
{
    const icecore_class_name name = borrowed_name(asked->name, asked->len, asked->is_utf8);
    /* Without a buffer, the engine only returns the length. */
    const size_t path_len = strlen(path);
    const size_t len = icecore_class_words(message_kind, ICECORE_PERL, &name, 0, path, path_len, NULL, 0);
    SV *text = sv_2mortal(newSV(len + 1));
    icecore_class_words(message_kind, ICECORE_PERL, &name, 0, path, path_len, SvPVX(text), len + 1);
    SvCUR_set(text, len);
    SvPOK_only(text);
    return text;
}

SV *
ice_policy_literal(pTHX_ const char *text, STRLEN len, bool is_utf8)
{
    const asked_class asked = { NULL, text, len, is_utf8 };
    return class_message(aTHX_ ICECORE_WORDS_LITERAL, &asked, "");
}

/* Warns that a class was built. Warns only once for each class. */
static void
warn_built_class(pTHX_ const asked_class *asked)
{
    HV *reported = get_hv("Icecore::REPORTED", GV_ADD);
    SV *class = name_sv(aTHX_ asked);
    if (hv_exists_ent(reported, class, 0))
        return;
    (void)hv_store_ent(reported, class, newSViv(1), 0);
    warn("Icecore: %" SVf, SVfARG(class_message(aTHX_ ICECORE_WORDS_BUILT, asked, "")));
}

/* Returns true if an option is the word `any,report`. */
static bool
is_report_word(pTHX_ SV *classes)
{
    return classes && SvOK(classes) && !SvROK(classes) && policy_word(aTHX_ classes) == ICECORE_ANY_REPORTED;
}

bool
ice_policy_reports(pTHX_ SV *classes)
{
    dMY_CXT;
    return is_report_word(aTHX_ classes) || is_report_word(aTHX_ GvSV(MY_CXT.otherwise));
}

/* Returns the meaning of an option; 0 if it is not a word. */
static U32
policy_word_of_option(pTHX_ SV *classes)
{
    return classes && SvOK(classes) && !SvROK(classes) ? policy_word(aTHX_ classes) : 0;
}

bool
ice_policy_is_any(pTHX_ SV *classes)
{
    U32 word = policy_word_of_option(aTHX_ classes);
    dMY_CXT;
    /* A word of the call overrides the word of the process. */
    if (!word)
        word = policy_word_of_option(aTHX_ GvSV(MY_CXT.otherwise));
    return word == ICECORE_ANY || word == ICECORE_ANY_REPORTED;
}

U32
ice_policy_verdict(pTHX_ SV *classes, const char *text, STRLEN len, bool is_utf8)
{
    icecore_question question;
    const icecore_class_name name = borrowed_name(text, len, is_utf8);
    const asked_class asked = { &question, text, len, is_utf8 };
    U32 answer;
    dMY_CXT;
    if (icecore_question_begin(&question, &name, 0, NULL) != ICECORE_OK)
        croak("Icecore: malformed UTF-8 in the name of a class");
    /* The order is: the rules of the call, the list of the process, the default of the process. */
    if (!ask_option(aTHX_ & asked, classes) && !ask_list(aTHX_ & asked, GvAVn(MY_CXT.allowed)))
        ask_option(aTHX_ & asked, GvSV(MY_CXT.otherwise));
    answer = icecore_question_answer(&question);
    if (answer == (ICECORE_ALLOWED | ICECORE_REPORTED)) {
        warn_built_class(aTHX_ & asked);
        return ICECORE_ALLOWED;
    }
    return answer;
}

/* ---- classes that the program lists ------------------------------------- */

/* Returns true if an item of a list is this name, not a regexp. */
static bool
item_is_name(pTHX_ SV *name, SV *item)
{
    return item && SvOK(item) && !(SvROK(item) && SvRXOK(item)) && sv_eq(item, name);
}

/* Returns true if an option lists this name. */
static bool
option_lists_class(pTHX_ SV *name, SV *classes)
{
    AV *list;
    SSize_t i;
    if (!classes || !SvOK(classes))
        return FALSE;
    if (!SvROK(classes))
        return item_is_name(aTHX_ name, classes);
    if (SvTYPE(SvRV(classes)) == SVt_PVHV)
        return cBOOL(hv_exists_ent((HV *)SvRV(classes), name, 0));
    if (SvTYPE(SvRV(classes)) != SVt_PVAV)
        return FALSE;
    list = (AV *)SvRV(classes);
    for (i = 0; i <= av_len(list); i++) {
        SV **item = av_fetch(list, i, 0);
        if (item && item_is_name(aTHX_ name, *item))
            return TRUE;
    }
    return FALSE;
}

bool
ice_policy_lists_class(pTHX_ SV *classes, SV *name)
{
    dMY_CXT;
    return option_lists_class(aTHX_ name, classes)
        || option_lists_class(aTHX_ name, sv_2mortal(newRV_inc((SV *)GvAVn(MY_CXT.allowed))));
}

/* ---- all refused classes ------------------------------------------------ */

void
ice_policy_add_refused(pTHX_ ice_refused *refused, const char *text, STRLEN len, bool is_utf8, const char *path)
{
    const asked_class asked = { NULL, text, len, is_utf8 };
    SV *literal;
    if (!refused->count) {
        refused->only_message = class_message(aTHX_ ICECORE_WORDS_REFUSED, &asked, path);
        refused->places = sv_2mortal(newSVpvs(""));
        refused->list_items = sv_2mortal(newSVpvs(""));
        refused->hash_items = sv_2mortal(newSVpvs(""));
    }
    if (++refused->count > ICE_MAX_LISTED_CLASSES)
        return;
    literal = class_message(aTHX_ ICECORE_WORDS_LITERAL, &asked, "");
    refused->has_wildcard |= len && memchr(text, '*', len) != NULL;
    sv_catpvf(refused->places, "%s%" SVf " at %s", refused->count > 1 ? ", " : "",
              SVfARG(class_message(aTHX_ ICECORE_WORDS_SHOWN, &asked, "")), path);
    sv_catpvf(refused->list_items, "%s%" SVf, refused->count > 1 ? ", " : "", SVfARG(literal));
    sv_catpvf(refused->hash_items, "%s%" SVf " => 1", refused->count > 1 ? ", " : "", SVfARG(literal));
}

void
ice_policy_croak_refused(pTHX_ const ice_refused *refused)
{
    SV *more_text = sv_2mortal(newSVpvs(""));
    if (refused->count == 1)
        croak("Icecore: %" SVf, SVfARG(refused->only_message));
    if (refused->count > ICE_MAX_LISTED_CLASSES)
        sv_catpvf(more_text, ", and %" UVuf " more", (UV)(refused->count - ICE_MAX_LISTED_CLASSES));
    /* A name with `*` would be a pattern in a list, but not in a hash. */
    if (refused->has_wildcard)
        croak("Icecore: these classes are not allowed: %" SVf "%" SVf "; allow them with classes => { %" SVf " }",
              SVfARG(refused->places), SVfARG(more_text), SVfARG(refused->hash_items));
    croak("Icecore: these classes are not allowed: %" SVf "%" SVf "; allow them with classes => [%" SVf
          "], in this call or for all with Icecore->allow(%" SVf ")",
          SVfARG(refused->places), SVfARG(more_text), SVfARG(refused->list_items), SVfARG(refused->list_items));
}
