/* The lists of allowed classes: those of a call, of the process, of Rails.
 *
 * Values of some of Ruby's own classes are built without a check: only in the form in
 * which Ruby writes them, and by no code that a program can replace. All others are
 * checked by name, in layers: the list of the call, then that of the process. No class
 * is looked up for that. */
#include "core/policy.h"

/* Number of names that are passed to the engine at once. */
#define LENT 64

static icecore_rules *process;
static bool process_has_rails;
static uint64_t editions = 1;        /* of rules: those of calls and of the process */
static uint64_t process_edition = 1; /* of the rules of the process */

/* Lists of recent calls, as bytes: a program uses the same list in each call, and
 * classes that it allowed are not checked again. */
#define LISTS_KEPT 4
#define LIST_BYTES 512

typedef struct {
    char names[LIST_BYTES]; /* one per line */
    size_t len;
    uint32_t word;
    bool has_rails;
    uint64_t edition; /* 0: unused */
} kept_list;

static kept_list kept[LISTS_KEPT];
static uint32_t next_kept;

/* The same for lists of classes only, by their addresses: until the collector runs no
 * other class can get their addresses, and a class keeps its name. */
#define CLASSES_KEPT 8

typedef struct {
    VALUE classes[CLASSES_KEPT];
    long count;
    uint64_t edition; /* 0: unused */
} kept_classes;

static kept_classes by_class[LISTS_KEPT];
static uint32_t next_by_class;

void
ice_policy_forget(void)
{
    uint32_t i;
    for (i = 0; i < LISTS_KEPT; i++)
        by_class[i].edition = 0;
}

/* Classes that Rails' values need. None of them runs more than its own code on plain
 * values. ActiveSupport::Cache::Entry is not among them: a compressed one passes its
 * bytes to Ruby's Marshal.load when its value is read. */
static const char *const rails[] = {
    "ActiveSupport::TimeWithZone", "ActiveSupport::TimeZone", "TZInfo::DataTimezone", "TZInfo::LinkedTimezone",
    "ActiveSupport::Duration", "ActiveSupport::SafeBuffer", "ActiveSupport::HashWithIndifferentAccess",
    "ActiveSupport::OrderedHash", "ActiveSupport::StringInquirer", "ActiveSupport::ArrayInquirer"
};

/* ---- lists ------------------------------------------------------------------- */

/* Returns the name of an item of a list; for a module its own name. */
static VALUE
name_of(VALUE item)
{
    VALUE name = item;
    if (RB_TYPE_P(item, T_CLASS) || RB_TYPE_P(item, T_MODULE))
        name = rb_mod_name(item);
    else if (!RB_TYPE_P(item, T_STRING))
        ice_raise(ice_type_error, "usage", "", "classes: must have classes, names and patterns, not %+" PRIsVALUE, item);
    if (!RB_TYPE_P(name, T_STRING))
        ice_raise(ice_argument_error, "usage", "", "%+" PRIsVALUE " has no name, so no data can be of it", item);
    return rb_str_new_frozen(name);
}

/* Returns the name with other separators: PHP's instead of those of Ruby and Perl, and
 * vice versa. */
static VALUE
other_name(const char *bytes, size_t len)
{
    const bool has_slashes = memchr(bytes, '\\', len) != NULL;
    VALUE other = rb_utf8_str_new(NULL, 0);
    size_t i;
    for (i = 0; i < len; i++) {
        const bool is_colons = bytes[i] == ':' && i + 1 < len && bytes[i + 1] == ':';
        if (has_slashes ? bytes[i] != '\\' : !is_colons)
            rb_str_cat(other, bytes + i, 1);
        else {
            rb_str_cat_cstr(other, has_slashes ? "::" : "\\");
            i += !has_slashes;
        }
    }
    return other;
}

static uint32_t
word_of(VALUE symbol, bool *is_rails)
{
    VALUE text = rb_sym2str(symbol);
    uint32_t word = icecore_policy_word(RSTRING_PTR(text), RSTRING_LEN(text));
    *is_rails = RSTRING_LEN(text) == 5 && memcmp(RSTRING_PTR(text), "rails", 5) == 0;
    if (word == ICECORE_ASK_ON && !*is_rails)
        ice_raise(ice_argument_error, "usage", "",
                  "classes: knows :any, :record, :report and :rails, not %+" PRIsVALUE "; a class is named by itself or by a string",
                  symbol);
    return word;
}

static void
add(ice_allowed *allowed, VALUE item)
{
    if (SYMBOL_P(item)) {
        bool is_rails;
        const uint32_t word = word_of(item, &is_rails);
        if (is_rails)
            allowed->has_rails = true;
        else
            allowed->word = word;
        return;
    }
    if (NIL_P(allowed->list))
        allowed->list = rb_ary_new();
    rb_ary_push(allowed->list, name_of(item));
}

static int
add_line(VALUE old, VALUE new, VALUE text)
{
    rb_str_append(text, name_of(old));
    rb_str_cat_cstr(text, "=");
    rb_str_append(text, name_of(new));
    rb_str_cat_cstr(text, "\n");
    return ST_CONTINUE;
}

/* The same, with the name under which a class of PHP is looked up here. */
static int
add_foreign_line(VALUE old, VALUE new, VALUE text)
{
    VALUE name = name_of(old);
    if (memchr(RSTRING_PTR(name), '\\', RSTRING_LEN(name)))
        name = other_name(RSTRING_PTR(name), RSTRING_LEN(name));
    return add_line(name, new, text);
}

static int
add_exactly(VALUE name, VALUE is_allowed, VALUE allowed)
{
    ice_allowed *to = (ice_allowed *)allowed;
    if (RTEST(is_allowed)) {
        VALUE text = name_of(name);
        if (memchr(RSTRING_PTR(text), '*', RSTRING_LEN(text))) {
            if (NIL_P(to->exact))
                to->exact = rb_hash_new();
            rb_hash_aset(to->exact, text, Qtrue);
        } else
            add(to, text);
    }
    return ST_CONTINUE;
}

/* Allows the new classes of `rename`, which the program names. */
static int
add_new(VALUE old, VALUE new, VALUE allowed)
{
    add((ice_allowed *)allowed, new);
    return ST_CONTINUE;
}

/* Writes the names of a list, one per line; returns the length, or 0 if there is no
 * room. */
static size_t
lines_of(VALUE list, char *lines)
{
    size_t len = 0;
    long i;
    for (i = 0; i < RARRAY_LEN(list); i++) {
        VALUE name = RARRAY_AREF(list, i);
        const size_t count = RSTRING_LEN(name);
        if (count >= LIST_BYTES - len || memchr(RSTRING_PTR(name), '\n', count))
            return 0;
        memcpy(lines + len, RSTRING_PTR(name), count);
        lines[len + count] = '\n';
        len += count + 1;
    }
    return len;
}

/* Returns the edition of equal rules; a new one if none was kept. */
static uint64_t
edition_of_list(const ice_allowed *allowed)
{
    char lines[LIST_BYTES];
    const size_t len = lines_of(allowed->list, lines);
    kept_list *known;
    if (!len)
        return 0;
    for (known = kept; known < kept + LISTS_KEPT; known++)
        if (known->edition && known->len == len && known->word == allowed->word &&
            known->has_rails == allowed->has_rails && memcmp(known->names, lines, len) == 0)
            return known->edition;
    known = &kept[next_kept++ % LISTS_KEPT];
    memcpy(known->names, lines, len);
    known->len = len;
    known->word = allowed->word;
    known->has_rails = allowed->has_rails;
    return known->edition = ++editions;
}

static bool
are_classes(VALUE list)
{
    long i;
    for (i = 0; i < RARRAY_LEN(list); i++)
        if (!RB_TYPE_P(RARRAY_AREF(list, i), T_CLASS) && !RB_TYPE_P(RARRAY_AREF(list, i), T_MODULE))
            return false;
    return true;
}

/* Returns the edition of a list of exactly these classes; 0 if none is kept. */
static uint64_t
edition_of_classes(VALUE list)
{
    const long count = RARRAY_LEN(list);
    const kept_classes *known;
    long i;
    for (known = by_class; known < by_class + LISTS_KEPT; known++) {
        if (!known->edition || known->count != count)
            continue;
        for (i = 0; i < count && known->classes[i] == RARRAY_AREF(list, i); i++)
            ;
        if (i == count)
            return known->edition;
    }
    return 0;
}

static void
keep_classes(VALUE list, uint64_t edition)
{
    kept_classes *known = &by_class[next_by_class++ % LISTS_KEPT];
    long i;
    for (i = 0; i < RARRAY_LEN(list); i++)
        known->classes[i] = RARRAY_AREF(list, i);
    known->count = RARRAY_LEN(list);
    known->edition = edition;
}

static void
add_all(ice_allowed *allowed, VALUE list)
{
    long i;
    for (i = 0; i < RARRAY_LEN(list); i++)
        add(allowed, RARRAY_AREF(list, i));
}

/* Takes the names of a list that was recognized by its classes. */
static void
take_names(ice_allowed *allowed)
{
    const VALUE classes = allowed->classes;
    allowed->classes = Qnil;
    add_all(allowed, classes);
}

void
ice_allowed_begin(ice_allowed *allowed, VALUE classes, VALUE rename)
{
    allowed->list = allowed->exact = allowed->classes = Qnil;
    allowed->rename = NULL;
    allowed->word = ICECORE_ASK_ON;
    allowed->has_rails = false;
    allowed->edition = 0;
    if (RB_TYPE_P(classes, T_ARRAY) && NIL_P(rename) && (allowed->edition = edition_of_classes(classes))) {
        allowed->classes = classes;
        return;
    }
    if (RB_TYPE_P(classes, T_ARRAY))
        add_all(allowed, classes);
    else if (RB_TYPE_P(classes, T_HASH))
        rb_hash_foreach(classes, add_exactly, (VALUE)allowed);
    else if (!NIL_P(classes))
        add(allowed, classes);
    if (!NIL_P(rename)) {
        VALUE text = rb_utf8_str_new(NULL, 0);
        icecore_error error;
        Check_Type(rename, T_HASH);
        rb_hash_foreach(rename, allowed->is_foreign ? add_foreign_line : add_line, text);
        rb_hash_foreach(rename, add_new, (VALUE)allowed);
        allowed->rename = icecore_class_map_new(RSTRING_PTR(text), RSTRING_LEN(text), &error);
        if (!allowed->rename)
            ice_raise_error(&error, NULL, 0, false);
    }
    else if (!NIL_P(allowed->list) && NIL_P(allowed->exact)) {
        allowed->edition = edition_of_list(allowed);
        if (allowed->edition && RB_TYPE_P(classes, T_ARRAY) && RARRAY_LEN(classes) <= CLASSES_KEPT && are_classes(classes))
            keep_classes(classes, allowed->edition);
    }
}

void
ice_allowed_end(ice_allowed *allowed)
{
    icecore_class_map_free(allowed->rename);
    allowed->rename = NULL;
}

void
ice_policy_allow(VALUE item)
{
    icecore_error error;
    if (!process)
        process = icecore_rules_new(0);
    process_edition = ++editions;
    memset(kept, 0, sizeof kept);
    ice_policy_forget();
    if (SYMBOL_P(item)) {
        bool is_rails;
        const uint32_t word = word_of(item, &is_rails);
        if (is_rails)
            process_has_rails = true;
        else
            icecore_rules_otherwise(process, word);
        return;
    }
    {
        VALUE text = name_of(item);
        const icecore_class_name name = ice_lent_name(RSTRING_PTR(text), RSTRING_LEN(text));
        if (icecore_rules_allow(process, &name, 0, &error) != ICECORE_OK)
            ice_raise_error(&error, NULL, 0, false);
    }
}

/* ---- checks --------------------------------------------------------------------- */

static bool
is_rails_class(const char *bytes, size_t len)
{
    size_t i;
    for (i = 0; i < sizeof rails / sizeof *rails; i++)
        if (strlen(rails[i]) == len && memcmp(rails[i], bytes, len) == 0)
            return true;
    return false;
}

static bool
ask_list(icecore_question *question, VALUE list)
{
    icecore_class_name lent[LENT];
    size_t count = 0;
    long i;
    for (i = 0; i < RARRAY_LEN(list); i++) {
        VALUE name = RARRAY_AREF(list, i);
        lent[count++] = ice_lent_name(RSTRING_PTR(name), RSTRING_LEN(name));
        if (count == LENT) {
            if (icecore_question_items(question, lent, count))
                return true;
            count = 0;
        }
    }
    return count && icecore_question_items(question, lent, count);
}

static uint32_t
verdict_by_name(const ice_allowed *allowed, const char *bytes, size_t len)
{
    char renamed[ICE_MOST_NAME];
    const size_t new_len = allowed->rename ? icecore_class_map_name(allowed->rename, bytes, len, renamed, sizeof renamed) : 0;
    icecore_class_name name;
    icecore_question question;
    const bool has_rails = allowed->has_rails || process_has_rails;
    if (new_len && new_len <= sizeof renamed) {
        bytes = renamed;
        len = new_len;
    }
    name = ice_lent_name(bytes, len);
    if (icecore_question_begin(&question, &name, 0, NULL) != ICECORE_OK) {
        name.is_text = 0;
        if (icecore_question_begin(&question, &name, 0, NULL) != ICECORE_OK)
            return ICECORE_REFUSED;
    }
    if (!NIL_P(allowed->list) && ask_list(&question, allowed->list))
        return icecore_question_answer(&question);
    if (!NIL_P(allowed->exact) && RTEST(rb_hash_lookup(allowed->exact, rb_utf8_str_new(bytes, len))))
        icecore_question_allow(&question);
    else if (has_rails && is_rails_class(bytes, len))
        icecore_question_allow(&question);
    else if (allowed->word == ICECORE_ASK_ON || !icecore_question_otherwise(&question, allowed->word))
        icecore_question_rules(&question, process);
    return icecore_question_answer(&question);
}

uint32_t
ice_verdict_of(const ice_allowed *allowed, const char *bytes, size_t len)
{
    uint32_t verdict;
    VALUE other;
    if (!NIL_P(allowed->classes)) /* the rules stay the same */
        take_names((ice_allowed *)allowed);
    verdict = verdict_by_name(allowed, bytes, len);
    if (ICE_LIKELY(!allowed->is_foreign || verdict == ICECORE_ALLOWED))
        return verdict;
    other = other_name(bytes, len);
    {
        const uint32_t found = verdict_by_name(allowed, RSTRING_PTR(other), RSTRING_LEN(other));
        RB_GC_GUARD(other);
        return found == ICECORE_ALLOWED ? found : verdict;
    }
}

bool
ice_policy_is_record(const ice_allowed *allowed, const char *name, size_t len)
{
    return (ice_verdict_of(allowed, name, len) & ~(uint32_t)ICECORE_REPORTED) == ICECORE_AS_RECORD;
}

uint64_t
ice_edition_of(const ice_allowed *allowed)
{
    const bool has_own = !NIL_P(allowed->list) || !NIL_P(allowed->classes) || !NIL_P(allowed->exact) || allowed->rename || allowed->has_rails ||
                         allowed->word != ICECORE_ASK_ON;
    if (allowed->is_foreign)
        return 0;
    return has_own ? allowed->edition : process_edition;
}
