/* The lists of allowed classes: those of a call, of the process, of Rails.
 *
 * Values of some of Ruby's own classes are not checked, because they are built only from the form
 * in which Ruby writes them, and only by code that a program can't replace. All other classes are
 * checked by name, in layers: first the list of the call, then that of the process. A check does
 * not look the class up, because that could load its file. */
#include "core/policy.h"

/* Maximum number of names that are passed to the engine at once. */
#define NAMES_PER_CALL 64

static icecore_rules *process_rules;
static bool process_has_rails;
static uint64_t last_edition = 1;    /* each distinct set of rules gets the next number */
static uint64_t process_edition = 1; /* edition of the rules of the process */

/* The lists of recent calls, as text. Most programs pass the same list in each call. A list that
 * equals a cached one gets the edition of the cached one. So the verdicts of that edition count
 * for it, and classes that it allowed are not checked again. */
#define MAX_CACHED_LISTS 4
#define MAX_LIST_BYTES 512

typedef struct {
    char names[MAX_LIST_BYTES]; /* each followed by a line break */
    size_t len;
    uint32_t otherwise;
    bool has_rails;
    uint64_t edition; /* 0 if this entry is free */
} cached_list;

static cached_list cached_lists[MAX_CACHED_LISTS];
static uint32_t next_cached_list;

/* The same for lists that contain only classes. They are recognized by the addresses of the
 * classes, without their names: a class keeps its name, and until the collector runs no other
 * class can get its address. */
#define MAX_CACHED_CLASSES 8

typedef struct {
    VALUE classes[MAX_CACHED_CLASSES];
    long count;
    uint64_t edition; /* 0 if this entry is free */
} cached_class_list;

static cached_class_list cached_class_lists[MAX_CACHED_LISTS];
static uint32_t next_cached_class_list;

void
ice_policy_forget_classes(void)
{
    uint32_t i;
    for (i = 0; i < MAX_CACHED_LISTS; i++)
        cached_class_lists[i].edition = 0;
}

/* Classes that Rails' values need. Building them runs only their own code, on plain values.
 * ActiveSupport::Cache::Entry is not among them, because a compressed entry passes its bytes to
 * Ruby's Marshal.load when its value is read. */
static const char *const RAILS_CLASSES[] = {
    "ActiveSupport::TimeWithZone", "ActiveSupport::TimeZone", "TZInfo::DataTimezone", "TZInfo::LinkedTimezone",
    "ActiveSupport::Duration", "ActiveSupport::SafeBuffer", "ActiveSupport::HashWithIndifferentAccess",
    "ActiveSupport::OrderedHash", "ActiveSupport::StringInquirer", "ActiveSupport::ArrayInquirer"
};

/* ---- lists ------------------------------------------------------------------- */

/* Returns the name for an item of a list: a string, a class or a module. */
static VALUE
name_of(VALUE item)
{
    VALUE name = item;
    if (RB_TYPE_P(item, T_CLASS) || RB_TYPE_P(item, T_MODULE))
        name = rb_mod_name(item);
    else if (!RB_TYPE_P(item, T_STRING))
        ice_raise(ice_type_error, "usage", "", "classes: must have classes, names and patterns, not %+" PRIsVALUE,
                  item);
    if (!RB_TYPE_P(name, T_STRING))
        ice_raise(ice_argument_error, "usage", "", "%+" PRIsVALUE " has no name, so no data can be of it", item);
    return rb_str_new_frozen(name);
}

/* Returns a name with `::` instead of `\`, PHP's separator, or vice versa. */
static VALUE
with_other_separators(const char *bytes, size_t len)
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

/* Returns the icecore_otherwise of a symbol, or ICECORE_ASK_ON for :rails. Raises for other
 * symbols. */
static uint32_t
parse_word(VALUE symbol, bool *is_rails)
{
    VALUE text = rb_sym2str(symbol);
    uint32_t word = icecore_policy_word(RSTRING_PTR(text), RSTRING_LEN(text));
    *is_rails = RSTRING_LEN(text) == 5 && memcmp(RSTRING_PTR(text), "rails", 5) == 0;
    if (word == ICECORE_ASK_ON && !*is_rails)
        ice_raise(ice_argument_error, "usage", "",
                  "classes: knows :any, :record, :report and :rails, not %+" PRIsVALUE
                  "; a class is named by itself or by a string",
                  symbol);
    return word;
}

/* Adds an item of a list: a word, or a class. */
static void
add_item(ice_class_rules *rules, VALUE item)
{
    if (SYMBOL_P(item)) {
        bool is_rails;
        const uint32_t word = parse_word(item, &is_rails);
        if (is_rails)
            rules->has_rails = true;
        else
            rules->otherwise = word;
        return;
    }
    if (NIL_P(rules->names))
        rules->names = rb_ary_new();
    rb_ary_push(rules->names, name_of(item));
}

/* Adds a line `old=new` for icecore_class_map_new. */
static int
add_rename(VALUE old, VALUE new, VALUE text)
{
    rb_str_append(text, name_of(old));
    rb_str_cat_cstr(text, "=");
    rb_str_append(text, name_of(new));
    rb_str_cat_cstr(text, "\n");
    return ST_CONTINUE;
}

/* Like add_rename, but a class of PHP gets the name under which Ruby looks it up. */
static int
add_foreign_rename(VALUE old, VALUE new, VALUE text)
{
    VALUE name = name_of(old);
    if (memchr(RSTRING_PTR(name), '\\', RSTRING_LEN(name)))
        name = with_other_separators(RSTRING_PTR(name), RSTRING_LEN(name));
    return add_rename(name, new, text);
}

/* Adds a name from a Hash, where a `*` has no special meaning. */
static int
add_exact_name(VALUE name, VALUE is_allowed, VALUE data)
{
    ice_class_rules *rules = (ice_class_rules *)data;
    if (RTEST(is_allowed)) {
        VALUE text = name_of(name);
        if (memchr(RSTRING_PTR(text), '*', RSTRING_LEN(text))) {
            if (NIL_P(rules->exact_names))
                rules->exact_names = rb_hash_new();
            rb_hash_aset(rules->exact_names, text, Qtrue);
        } else
            add_item(rules, text);
    }
    return ST_CONTINUE;
}

/* Allows a new name in `rename`, because the program itself names that class. */
static int
allow_new_name(VALUE old, VALUE new, VALUE rules)
{
    add_item((ice_class_rules *)rules, new);
    return ST_CONTINUE;
}

/* Writes the names of a list, each followed by a line break. Returns the length, or 0 if they
 * don't fit. */
static size_t
join_lines(VALUE list, char *lines)
{
    size_t len = 0;
    long i;
    for (i = 0; i < RARRAY_LEN(list); i++) {
        VALUE name = RARRAY_AREF(list, i);
        const size_t count = RSTRING_LEN(name);
        if (count >= MAX_LIST_BYTES - len || memchr(RSTRING_PTR(name), '\n', count))
            return 0;
        memcpy(lines + len, RSTRING_PTR(name), count);
        lines[len + count] = '\n';
        len += count + 1;
    }
    return len;
}

/* Returns the edition of cached rules that equal these. If there are none, caches these with a new
 * edition. Returns 0 if they are too long to be cached. */
static uint64_t
edition_of_list(const ice_class_rules *rules)
{
    char lines[MAX_LIST_BYTES];
    const size_t len = join_lines(rules->names, lines);
    cached_list *known;
    if (!len)
        return 0;
    for (known = cached_lists; known < cached_lists + MAX_CACHED_LISTS; known++)
        if (known->edition && known->len == len && known->otherwise == rules->otherwise &&
            known->has_rails == rules->has_rails && memcmp(known->names, lines, len) == 0)
            return known->edition;
    known = &cached_lists[next_cached_list++ % MAX_CACHED_LISTS];
    memcpy(known->names, lines, len);
    known->len = len;
    known->otherwise = rules->otherwise;
    known->has_rails = rules->has_rails;
    return known->edition = ++last_edition;
}

/* Returns true if all items of a list are classes or modules. */
static bool
are_classes(VALUE list)
{
    long i;
    for (i = 0; i < RARRAY_LEN(list); i++)
        if (!RB_TYPE_P(RARRAY_AREF(list, i), T_CLASS) && !RB_TYPE_P(RARRAY_AREF(list, i), T_MODULE))
            return false;
    return true;
}

/* Returns the edition of a cached list of exactly these classes, or 0. */
static uint64_t
edition_of_classes(VALUE list)
{
    const long count = RARRAY_LEN(list);
    const cached_class_list *known;
    long i;
    for (known = cached_class_lists; known < cached_class_lists + MAX_CACHED_LISTS; known++) {
        if (!known->edition || known->count != count)
            continue;
        for (i = 0; i < count && known->classes[i] == RARRAY_AREF(list, i); i++)
            ;
        if (i == count)
            return known->edition;
    }
    return 0;
}

/* Keeps the addresses of the classes of a list, with its edition. */
static void
cache_class_list(VALUE list, uint64_t edition)
{
    cached_class_list *known = &cached_class_lists[next_cached_class_list++ % MAX_CACHED_LISTS];
    long i;
    for (i = 0; i < RARRAY_LEN(list); i++)
        known->classes[i] = RARRAY_AREF(list, i);
    known->count = RARRAY_LEN(list);
    known->edition = edition;
}

static void
add_items(ice_class_rules *rules, VALUE list)
{
    long i;
    for (i = 0; i < RARRAY_LEN(list); i++)
        add_item(rules, RARRAY_AREF(list, i));
}

/* Adds the names of a list that was recognized by the addresses of its classes. */
static void
expand_cached_classes(ice_class_rules *rules)
{
    const VALUE classes = rules->cached_classes;
    rules->cached_classes = Qnil;
    add_items(rules, classes);
}

void
ice_class_rules_init(ice_class_rules *rules, VALUE classes, VALUE rename)
{
    rules->names = rules->exact_names = rules->cached_classes = Qnil;
    rules->rename = NULL;
    rules->otherwise = ICECORE_ASK_ON;
    rules->has_rails = false;
    rules->edition = 0;
    if (RB_TYPE_P(classes, T_ARRAY) && NIL_P(rename) && (rules->edition = edition_of_classes(classes))) {
        rules->cached_classes = classes;
        return;
    }
    if (RB_TYPE_P(classes, T_ARRAY))
        add_items(rules, classes);
    else if (RB_TYPE_P(classes, T_HASH))
        rb_hash_foreach(classes, add_exact_name, (VALUE)rules);
    else if (!NIL_P(classes))
        add_item(rules, classes);
    if (!NIL_P(rename)) {
        VALUE text = rb_utf8_str_new(NULL, 0);
        icecore_error error;
        Check_Type(rename, T_HASH);
        rb_hash_foreach(rename, rules->is_foreign ? add_foreign_rename : add_rename, text);
        rb_hash_foreach(rename, allow_new_name, (VALUE)rules);
        rules->rename = icecore_class_map_new(RSTRING_PTR(text), RSTRING_LEN(text), &error);
        if (!rules->rename)
            ice_raise_error(&error, NULL, 0, false);
    } else if (!NIL_P(rules->names) && NIL_P(rules->exact_names)) {
        rules->edition = edition_of_list(rules);
        if (rules->edition && RB_TYPE_P(classes, T_ARRAY) && RARRAY_LEN(classes) <= MAX_CACHED_CLASSES &&
            are_classes(classes))
            cache_class_list(classes, rules->edition);
    }
}

void
ice_class_rules_free(ice_class_rules *rules)
{
    icecore_class_map_free(rules->rename);
    rules->rename = NULL;
}

void
ice_policy_allow(VALUE item)
{
    icecore_error error;
    if (!process_rules)
        process_rules = icecore_rules_new(0);
    /* The rules of the process apply to each call, so no verdict of an older edition is valid. */
    process_edition = ++last_edition;
    memset(cached_lists, 0, sizeof cached_lists);
    ice_policy_forget_classes();
    if (SYMBOL_P(item)) {
        bool is_rails;
        const uint32_t word = parse_word(item, &is_rails);
        if (is_rails)
            process_has_rails = true;
        else
            icecore_rules_otherwise(process_rules, word);
        return;
    }
    {
        VALUE text = name_of(item);
        const icecore_class_name name = ice_utf8_class_name(RSTRING_PTR(text), RSTRING_LEN(text));
        if (icecore_rules_allow(process_rules, &name, 0, &error) != ICECORE_OK)
            ice_raise_error(&error, NULL, 0, false);
    }
}

/* ---- checks --------------------------------------------------------------------- */

/* Returns true if a class is one that Rails needs. */
static bool
is_rails_class(const char *bytes, size_t len)
{
    size_t i;
    for (i = 0; i < sizeof RAILS_CLASSES / sizeof *RAILS_CLASSES; i++)
        if (strlen(RAILS_CLASSES[i]) == len && memcmp(RAILS_CLASSES[i], bytes, len) == 0)
            return true;
    return false;
}

/* Passes a list to the engine. Returns true if it decides about the class. */
static bool
is_decided_by_list(icecore_question *question, VALUE list)
{
    icecore_class_name batch[NAMES_PER_CALL];
    size_t count = 0;
    long i;
    for (i = 0; i < RARRAY_LEN(list); i++) {
        VALUE name = RARRAY_AREF(list, i);
        batch[count++] = ice_utf8_class_name(RSTRING_PTR(name), RSTRING_LEN(name));
        if (count == NAMES_PER_CALL) {
            if (icecore_question_items(question, batch, count))
                return true;
            count = 0;
        }
    }
    return count && icecore_question_items(question, batch, count);
}

/* Returns the verdict about exactly this name, without trying other separators. */
static uint32_t
verdict_by_name(const ice_class_rules *rules, const char *bytes, size_t len)
{
    char renamed[ICE_MAX_CLASS_NAME];
    const size_t new_len =
        rules->rename ? icecore_class_map_name(rules->rename, bytes, len, renamed, sizeof renamed) : 0;
    icecore_class_name name;
    icecore_question question;
    const bool has_rails = rules->has_rails || process_has_rails;
    if (new_len && new_len <= sizeof renamed) {
        bytes = renamed;
        len = new_len;
    }
    name = ice_utf8_class_name(bytes, len);
    /* A name that is not valid UTF-8 is passed as bytes. */
    if (icecore_question_begin(&question, &name, 0, NULL) != ICECORE_OK) {
        name.is_text = 0;
        if (icecore_question_begin(&question, &name, 0, NULL) != ICECORE_OK)
            return ICECORE_REFUSED;
    }
    if (!NIL_P(rules->names) && is_decided_by_list(&question, rules->names))
        return icecore_question_answer(&question);
    if (!NIL_P(rules->exact_names) && RTEST(rb_hash_lookup(rules->exact_names, rb_utf8_str_new(bytes, len))))
        icecore_question_allow(&question);
    else if (has_rails && is_rails_class(bytes, len))
        icecore_question_allow(&question);
    else if (rules->otherwise == ICECORE_ASK_ON || !icecore_question_otherwise(&question, rules->otherwise))
        icecore_question_rules(&question, process_rules);
    return icecore_question_answer(&question);
}

uint32_t
ice_verdict_of(const ice_class_rules *rules, const char *bytes, size_t len)
{
    uint32_t verdict;
    VALUE other;
    /* The meaning of the rules stays the same, so the cast is safe. */
    if (!NIL_P(rules->cached_classes))
        expand_cached_classes((ice_class_rules *)rules);
    verdict = verdict_by_name(rules, bytes, len);
    if (ICE_LIKELY(!rules->is_foreign || verdict == ICECORE_ALLOWED))
        return verdict;
    other = with_other_separators(bytes, len);
    {
        const uint32_t found = verdict_by_name(rules, RSTRING_PTR(other), RSTRING_LEN(other));
        RB_GC_GUARD(other);
        return found == ICECORE_ALLOWED ? found : verdict;
    }
}

bool
ice_policy_is_record(const ice_class_rules *rules, const char *name, size_t len)
{
    return ice_without_report(ice_verdict_of(rules, name, len)) == ICECORE_AS_RECORD;
}

uint64_t
ice_rules_edition(const ice_class_rules *rules)
{
    const bool has_own_rules = !NIL_P(rules->names) || !NIL_P(rules->cached_classes) || !NIL_P(rules->exact_names) ||
                               rules->rename || rules->has_rails || rules->otherwise != ICECORE_ASK_ON;
    if (rules->is_foreign)
        return 0;
    return has_own_rules ? rules->edition : process_edition;
}
