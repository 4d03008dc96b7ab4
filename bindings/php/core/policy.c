/* Decides which classes may be built.
 *
 * With the option `allowed_classes`, PHP's rule holds: objects of the listed classes are
 * built (case does not matter), and all others become incomplete objects. Without it, the
 * engine's rules decide (policy in docs/glossary.md). They have these layers, in order: the
 * option `classes` of the call, Icecore\allow in this request, the ini value icecore.classes.
 *
 * A verdict is one of the engine's ICECORE_ALLOWED, ICECORE_AS_RECORD and ICECORE_REFUSED,
 * with the bit ICECORE_REPORTED if the class must be logged. */
#include "core/icecore_php.h"
#include "ext/standard/php_string.h"

/* Number of names that one call of the engine receives. */
#define NAMES_PER_CALL 64

/* Returns a name for the engine, which borrows the bytes. */
static icecore_class_name
class_name(const char *bytes, size_t len)
{
    const icecore_class_name name = { (const uint8_t *)bytes, len, 0 };
    return name;
}

/* ---- options of a call -------------------------------------------------- */

/* Copies the names of `allowed_classes` in lower case. Returns false if an exception was
 * thrown. */
static bool
read_allowed_names(ice_class_options *class_options, HashTable *names)
{
    zval *item;
    ALLOC_HASHTABLE(class_options->allowed_names);
    zend_hash_init(class_options->allowed_names, zend_hash_num_elements(names), NULL, NULL, 0);
    ZEND_HASH_FOREACH_VAL(names, item) {
        zend_string *name = zval_get_string(item), *lower_name = zend_string_tolower(name);
        zend_hash_add_empty_element(class_options->allowed_names, lower_name);
        zend_string_release(lower_name);
        zend_string_release(name);
        if (EG(exception))
            return false;
    } ZEND_HASH_FOREACH_END();
    return true;
}

#if PHP_VERSION_ID >= 80400
/* Since PHP 8.4, invalid class names are an error. Throws and returns false if there is one. */
static bool
are_valid_names(HashTable *names, const char *function)
{
    zval *item;
    ZEND_HASH_FOREACH_VAL(names, item) {
        zend_string *name;
        bool is_name;
        ZVAL_DEREF(item);
        if (Z_TYPE_P(item) != IS_STRING && Z_TYPE_P(item) != IS_OBJECT) {
            zend_type_error("%s(): Option \"allowed_classes\" must be an array of class names, %s given", function,
                            zend_zval_value_name(item));
            return false;
        }
        name = zval_try_get_string(item);
        if (!name)
            return false;
        is_name = zend_is_valid_class_name(name);
        if (!is_name)
            zend_value_error("%s(): Option \"allowed_classes\" must be an array of class names, \"%s\" given",
                             function, ZSTR_VAL(name));
        zend_string_release(name);
        if (!is_name)
            return false;
    } ZEND_HASH_FOREACH_END();
    return true;
}
#endif

bool
ice_class_options_read(ice_class_options *class_options, HashTable *options, const char *function)
{
    zval *allowed_option, *classes_option, *item;
    if (!options)
        return true;
    allowed_option = zend_hash_str_find_deref(options, ZEND_STRL("allowed_classes"));
    classes_option = zend_hash_str_find_deref(options, ZEND_STRL("classes"));
    if (allowed_option) {
        if (Z_TYPE_P(allowed_option) != IS_ARRAY && Z_TYPE_P(allowed_option) != IS_TRUE &&
            Z_TYPE_P(allowed_option) != IS_FALSE) {
            zend_type_error("%s(): Option \"allowed_classes\" must be of type array|bool, %s given", function,
                            ice_type_of(allowed_option));
            return false;
        }
#if PHP_VERSION_ID >= 80400
        if (Z_TYPE_P(allowed_option) == IS_ARRAY && !are_valid_names(Z_ARRVAL_P(allowed_option), function))
            return false;
#endif
        class_options->has_allowed_classes = true;
        class_options->allows_all = Z_TYPE_P(allowed_option) == IS_TRUE;
        if (Z_TYPE_P(allowed_option) == IS_ARRAY && !read_allowed_names(class_options, Z_ARRVAL_P(allowed_option)))
            return false;
    }
    if (!classes_option || Z_TYPE_P(classes_option) == IS_NULL)
        return true;
    if (allowed_option) {
        zend_value_error("%s(): Options \"allowed_classes\" and \"classes\" exclude each other", function);
        return false;
    }
    if (Z_TYPE_P(classes_option) == IS_ARRAY) {
        ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(classes_option), item) {
            ZVAL_DEREF(item);
            if (Z_TYPE_P(item) != IS_STRING) {
                zend_type_error("%s(): Option \"classes\" must be an array of strings, %s found in it", function,
                                ice_type_of(item));
                return false;
            }
        } ZEND_HASH_FOREACH_END();
    } else if (Z_TYPE_P(classes_option) != IS_STRING) {
        zend_type_error("%s(): Option \"classes\" must be of type array|string, %s given", function,
                        ice_type_of(classes_option));
        return false;
    }
    class_options->classes_option = classes_option;
    return true;
}

void
ice_class_options_free(ice_class_options *class_options)
{
    if (class_options->allowed_names) {
        zend_hash_destroy(class_options->allowed_names);
        FREE_HASHTABLE(class_options->allowed_names);
        class_options->allowed_names = NULL;
    }
}

/* ---- lists of the request and of the process ---------------------------- */

bool
ice_policy_allow(zend_string *class)
{
    const icecore_class_name name = class_name(ZSTR_VAL(class), ZSTR_LEN(class));
    icecore_error error;
    ICE_G(rules_version)++;
    if (!ICE_G(request_rules))
        ICE_G(request_rules) = icecore_rules_new(ICECORE_NAMES_PHP);
    if (icecore_rules_allow(ICE_G(request_rules), &name, 0, &error) == ICECORE_OK)
        return true;
    ice_throw_error(ice_exception, &error);
    return false;
}

void
ice_policy_end_request(void)
{
    icecore_rules_free(ICE_G(request_rules));
    ICE_G(request_rules) = NULL;
    ICE_G(rules_version)++;
    if (ICE_G(reported_classes)) {
        zend_hash_destroy(ICE_G(reported_classes));
        FREE_HASHTABLE(ICE_G(reported_classes));
        ICE_G(reported_classes) = NULL;
    }
}

/* The value has names and patterns, separated by commas or blanks. It may also have a word
 * such as `any`. This word decides about classes that no name or pattern matches. A word may
 * contain a comma (`any,report`), so the whole value is tried as a word first.
 * icecore_policy_word returns ICECORE_ASK_ON for everything that is not such a word. */
icecore_rules *
ice_policy_parse_rules(const char *text, size_t len)
{
    static const char separators[] = ", \t\r\n";
    icecore_rules *rules = icecore_rules_new(ICECORE_NAMES_PHP);
    bool is_empty = true;
    const char *end = text + len;
    const uint32_t word = icecore_policy_word(text, len);
    if (word != ICECORE_ASK_ON) {
        icecore_rules_otherwise(rules, word);
        return rules;
    }
    while (text < end) {
        const char *start = text;
        while (text < end && !strchr(separators, *text))
            text++;
        if (text > start) {
            const icecore_class_name name = class_name(start, text - start);
            const uint32_t item_word = icecore_policy_word(start, text - start);
            is_empty = false;
            if (item_word != ICECORE_ASK_ON)
                icecore_rules_otherwise(rules, item_word);
            else
                icecore_rules_allow(rules, &name, 0, NULL);
        }
        text++;
    }
    if (!is_empty)
        return rules;
    icecore_rules_free(rules);
    return NULL;
}

/* ---- verdicts ----------------------------------------------------------- */

/* Asks the option `classes` about a class. Returns true if it decides. */
static bool
ask_classes_option(icecore_question *question, zval *classes_option)
{
    icecore_class_name names[NAMES_PER_CALL];
    size_t count = 0;
    zval *item;
    uint32_t word;
    if (!classes_option)
        return false;
    if (Z_TYPE_P(classes_option) == IS_STRING) {
        word = icecore_policy_word(Z_STRVAL_P(classes_option), Z_STRLEN_P(classes_option));
        if (word != ICECORE_ASK_ON)
            return icecore_question_otherwise(question, word);
        names[0] = class_name(Z_STRVAL_P(classes_option), Z_STRLEN_P(classes_option));
        return icecore_question_items(question, names, 1);
    }
    ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(classes_option), item) {
        ZVAL_DEREF(item);
        names[count++] = class_name(Z_STRVAL_P(item), Z_STRLEN_P(item));
        if (count == NAMES_PER_CALL) {
            if (icecore_question_items(question, names, count))
                return true;
            count = 0;
        }
    } ZEND_HASH_FOREACH_END();
    return count && icecore_question_items(question, names, count);
}

/* Returns true if `allowed_classes` allows the class. */
static bool
is_in_allowed_classes(const ice_class_options *class_options, const char *bytes, size_t len)
{
    zend_string *lower_name;
    bool found;
    if (class_options->allows_all)
        return true;
    if (!class_options->allowed_names)
        return false;
    lower_name = zend_string_alloc(len, 0);
    zend_str_tolower_copy(ZSTR_VAL(lower_name), bytes, len);
    found = zend_hash_exists(class_options->allowed_names, lower_name);
    zend_string_release(lower_name);
    return found;
}

/* Returns true for PHP's class without hooks, which is always allowed. */
static bool
is_std_class(const char *bytes, size_t len)
{
    return len == 8 && zend_binary_strcasecmp(bytes, len, ZEND_STRL("stdClass")) == 0;
}

/* Returns the verdict for exactly this spelling of a class name. */
static uint32_t
verdict_for_name(const ice_class_options *class_options, const char *bytes, size_t len)
{
    const icecore_class_name name = class_name(bytes, len);
    icecore_question question;
    if (class_options->has_allowed_classes)
        return is_in_allowed_classes(class_options, bytes, len) ? ICECORE_ALLOWED : ICECORE_REFUSED;
    if (is_std_class(bytes, len))
        return ICECORE_ALLOWED;
    if (icecore_question_begin(&question, &name, ICECORE_NAMES_PHP, NULL) != ICECORE_OK)
        return ICECORE_REFUSED;
    /* The layers are asked in order until one decides. If none decides, PHP's default applies only
     * if the call has no list of its own and the ini value is empty. */
    if (!ask_classes_option(&question, class_options->classes_option) &&
        !icecore_question_rules(&question, ICE_G(request_rules)) &&
        !icecore_question_rules(&question, ICE_G(ini_rules)) && class_options->allows_all_by_default &&
        !class_options->classes_option && !ICE_G(ini_rules))
        icecore_question_otherwise(&question, ICECORE_ANY);
    return icecore_question_answer(&question);
}

/* Returns `A\B` as `A::B`, and any other name with `\` for `::`. */
static zend_string *
with_other_separators(const char *bytes, size_t len)
{
    if (memchr(bytes, '\\', len))
        return php_str_to_str(bytes, len, ZEND_STRL("\\"), ZEND_STRL("::"));
    return php_str_to_str(bytes, len, ZEND_STRL("::"), ZEND_STRL("\\"));
}

/* Returns the verdict for a class. A class of another language is allowed under either
 * spelling. */
static uint32_t
class_verdict(const ice_class_options *class_options, const char *bytes, size_t len)
{
    uint32_t verdict = verdict_for_name(class_options, bytes, len);
    if (UNEXPECTED(class_options->is_other_language) && verdict == ICECORE_REFUSED) {
        zend_string *other_spelling = with_other_separators(bytes, len);
        verdict = verdict_for_name(class_options, ZSTR_VAL(other_spelling), ZSTR_LEN(other_spelling));
        zend_string_release(other_spelling);
    }
    return verdict;
}

/* Returns a verdict without the bit that says if the class must be logged. */
static inline uint32_t
without_report(uint32_t verdict)
{
    return verdict & ~(uint32_t)ICECORE_REPORTED;
}

bool
ice_policy_makes_record(const ice_class_options *class_options, const char *class, size_t len)
{
    return without_report(class_verdict(class_options, class, len)) == ICECORE_AS_RECORD;
}

bool
ice_policy_allows_any(const ice_class_options *class_options)
{
    /* No class has this name, and no pattern for names matches it. */
    return without_report(class_verdict(class_options, ZEND_STRL(" "))) == ICECORE_ALLOWED;
}

/* ---- messages ----------------------------------------------------------- */

/* Returns the engine's text about a class. `message_kind` is one of ICECORE_WORDS_. */
static zend_string *
class_message(uint32_t message_kind, const char *bytes, size_t len, const char *path)
{
    const icecore_class_name name = class_name(bytes, len);
    /* Without a buffer, the engine only returns the length. The buffer also has room for a NUL. */
    const size_t path_len = strlen(path);
    const size_t text_len = icecore_class_words(message_kind, ICECORE_PHP, &name, 0, path, path_len, NULL, 0);
    zend_string *text = zend_string_alloc(text_len, 0);
    icecore_class_words(message_kind, ICECORE_PHP, &name, 0, path, path_len, ZSTR_VAL(text), text_len + 1);
    return text;
}

/* Logs a message about a class, unless the request has already logged one about it. */
static void
log_once(uint32_t message_kind, const char *bytes, size_t len, const char *path)
{
    zend_string *message, *line;
    if (!ICE_G(reported_classes)) {
        ALLOC_HASHTABLE(ICE_G(reported_classes));
        zend_hash_init(ICE_G(reported_classes), 8, NULL, NULL, 0);
    }
    if (!zend_hash_str_add_empty_element(ICE_G(reported_classes), bytes, len))
        return;
    message = class_message(message_kind, bytes, len, path);
    line = zend_string_concat2(ZEND_STRL("Icecore: "), ZSTR_VAL(message), ZSTR_LEN(message));
    php_log_err(ZSTR_VAL(line));
    zend_string_release(line);
    zend_string_release(message);
}

/* ---- all classes of a document ------------------------------------------ */

/* The exception names at most this many classes, and has the number of all other classes. */
#define MAX_LISTED_CLASSES 1000

/* The refused classes of a document, for the exception. */
typedef struct {
    zval paths; /* an array: the path of the first object of each class, by its name */
    zend_string *first_message; /* about the first class; NULL if no class is refused */
    uint32_t unlisted_count; /* number of refused values whose classes may be missing in `paths` */
} refusals;

/* Adds a class to the refused ones. */
static void
add_refused(refusals *refused, const char *bytes, size_t len, const char *path, bool is_reported)
{
    if (!refused->first_message) {
        array_init(&refused->paths);
        refused->first_message = class_message(ICECORE_WORDS_REFUSED, bytes, len, path);
    }
    if (!zend_hash_str_exists(Z_ARRVAL(refused->paths), bytes, len)) {
        zval path_value;
        ZVAL_STRING(&path_value, path);
        zend_hash_str_add_new(Z_ARRVAL(refused->paths), bytes, len, &path_value);
    }
    if (is_reported)
        log_once(ICECORE_WORDS_REFUSED, bytes, len, path);
}

/* Returns the message about several classes. */
static zend_string *
message_about_all(refusals *refused)
{
    smart_str message = { 0 }, names = { 0 };
    zend_string *class;
    zval *path;
    bool is_first = true;
    smart_str_appends(&message, "these classes are not allowed: ");
    ZEND_HASH_FOREACH_STR_KEY_VAL(Z_ARRVAL(refused->paths), class, path) {
        zend_string *shown, *literal;
        if (!class)
            continue;
        shown = class_message(ICECORE_WORDS_SHOWN, ZSTR_VAL(class), ZSTR_LEN(class), "");
        literal = class_message(ICECORE_WORDS_LITERAL, ZSTR_VAL(class), ZSTR_LEN(class), "");
        smart_str_appends(&message, is_first ? "" : ", ");
        smart_str_append(&message, shown);
        smart_str_appends(&message, " at ");
        smart_str_append(&message, Z_STR_P(path));
        smart_str_appends(&names, is_first ? "" : ", ");
        smart_str_append(&names, literal);
        zend_string_release(shown);
        zend_string_release(literal);
        is_first = false;
    } ZEND_HASH_FOREACH_END();
    if (refused->unlisted_count) {
        smart_str_appends(&message, ", and ");
        smart_str_append_unsigned(&message, refused->unlisted_count);
        smart_str_appends(&message, " more");
    }
    smart_str_appends(&message, "; allow them with 'allowed_classes' => [");
    smart_str_append_smart_str(&message, &names);
    smart_str_appends(&message, "], in this call or for the rest of the request with Icecore\\allow(");
    smart_str_append_smart_str(&message, &names);
    smart_str_appendc(&message, ')');
    smart_str_0(&message);
    smart_str_free(&names);
    return message.s;
}

/* Throws the exception about the refused classes, and frees them. */
static void
throw_refused(refusals *refused)
{
    const bool is_single = zend_hash_num_elements(Z_ARRVAL(refused->paths)) == 1;
    zval *first_path = zend_hash_get_current_data(Z_ARRVAL(refused->paths));
    zend_string *message = is_single ? zend_string_copy(refused->first_message) : message_about_all(refused);
    zend_string *line = zend_string_concat2(ZEND_STRL("Icecore: "), ZSTR_VAL(message), ZSTR_LEN(message));
    ice_throw(ice_class_exception, "class", -1, Z_STRVAL_P(first_path), line);
    if (EG(exception) && EG(exception)->ce == ice_class_exception)
        zend_update_property(ice_class_exception, EG(exception), ZEND_STRL("classes"), &refused->paths);
    zend_string_release(message);
    zend_string_release(refused->first_message);
    zval_ptr_dtor(&refused->paths);
}

/* Returns the class name of an enum case: the text before the colon. */
static const char *
enum_class(const icecore_view *view, const icecore_node *node, size_t *len)
{
    const char *text = ice_bytes_of(view, node, len);
    const char *colon = memchr(text, ':', *len);
    if (colon)
        *len = colon - text;
    return text;
}

/* Returns a number for the rules of a call: the version of the rules, and whether PHP's default
 * applies. Returns 0 if the call has rules of its own. Its verdicts are then not kept for the next
 * call. */
static uint32_t
rules_version_of_call(const ice_class_options *class_options)
{
    if (class_options->has_allowed_classes || class_options->classes_option || class_options->is_other_language)
        return 0;
    /* The lowest bit is always set, so the number is not 0. */
    return (ICE_G(rules_version) << 2) | (class_options->allows_all_by_default ? 2 : 0) | 1;
}

bool
ice_policy_check(ice_context *ctx, const ice_class_options *class_options, bool *has_opaque)
{
    const icecore_view *view = &ctx->view;
    const icecore_node *node = view->nodes, *end = node + view->node_count;
    refusals refused = { .first_message = NULL };
    uint32_t last_class_id = UINT32_MAX; /* of the last object: consecutive objects are often of one class */
    const uint32_t rules_version = rules_version_of_call(class_options);
    *has_opaque = false;
    for (; node < end; node++) {
        const char *text;
        size_t len;
        uint32_t verdict;
        ice_class *class = NULL;
        if (EXPECTED(node->kind < ICECORE_ENUM_CASE))
            continue;
        if (node->kind == ICECORE_OBJECT ? ICE_CLASS_OF(node) == last_class_id
                                         : node->kind != ICECORE_OPAQUE && node->kind != ICECORE_ENUM_CASE)
            continue;
        if (node->kind == ICECORE_ENUM_CASE) {
            text = enum_class(view, node, &len);
            verdict = class_verdict(class_options, text, len);
        } else {
            class = ice_class_of(ctx, ICE_CLASS_OF(node));
            last_class_id = ICE_CLASS_OF(node);
            *has_opaque |= node->kind == ICECORE_OPAQUE;
            if (class->call_number == ctx->call_number)
                continue;
            text = ZSTR_VAL(class->name);
            len = ZSTR_LEN(class->name);
            class->call_number = ctx->call_number;
            if (rules_version && class->rules_version == rules_version)
                verdict = ICECORE_ALLOWED;
            else {
                verdict = class_verdict(class_options, text, len);
                /* A class that must be logged is checked again in each call. */
                class->rules_version = verdict == ICECORE_ALLOWED ? rules_version : 0;
            }
            /* A new verdict may change how objects are built. A class that did not exist may exist
             * now. In both cases ice_class_find must run again. */
            if (class->verdict != without_report(verdict) || !class->ce)
                class->build_method = ICE_CLASS_UNKNOWN;
            class->verdict = without_report(verdict);
        }
        if (verdict == (ICECORE_ALLOWED | ICECORE_REPORTED))
            log_once(ICECORE_WORDS_BUILT, text, len, "");
        else if (without_report(verdict) == ICECORE_REFUSED && (!class_options->has_allowed_classes || !class)) {
            /* With PHP's list, an object of a class that is not listed becomes incomplete, and is
             * not refused. An enum case can't be incomplete, so it is refused. */
            if (refused.first_message && zend_hash_num_elements(Z_ARRVAL(refused.paths)) >= MAX_LISTED_CLASSES)
                refused.unlisted_count++;
            else {
                char path[512];
                icecore_path(ctx->pooled.engine, view->input, view->input_len, (uint32_t)(node - view->nodes), path,
                             sizeof path);
                add_refused(&refused, text, len, path, verdict & ICECORE_REPORTED);
            }
        }
    }
    if (!refused.first_message)
        return true;
    throw_refused(&refused);
    return false;
}

bool
ice_policy_check_names(const ice_class_options *class_options, HashTable *names)
{
    refusals refused = { .first_message = NULL };
    zend_string *name;
    zval *path;
    ZEND_HASH_FOREACH_STR_KEY_VAL(names, name, path) {
        const uint32_t verdict = class_verdict(class_options, ZSTR_VAL(name), ZSTR_LEN(name));
        if (verdict == (ICECORE_ALLOWED | ICECORE_REPORTED))
            log_once(ICECORE_WORDS_BUILT, ZSTR_VAL(name), ZSTR_LEN(name), "");
        else if (Z_TYPE_P(path) == IS_TRUE
                     ? without_report(verdict) != ICECORE_ALLOWED
                     : without_report(verdict) == ICECORE_REFUSED && !class_options->has_allowed_classes)
            add_refused(&refused, ZSTR_VAL(name), ZSTR_LEN(name),
                        Z_TYPE_P(path) == IS_STRING ? Z_STRVAL_P(path) : "$", verdict & ICECORE_REPORTED);
        if (without_report(verdict) != ICECORE_ALLOWED)
            zend_hash_del(names, name);
    } ZEND_HASH_FOREACH_END();
    if (!refused.first_message)
        return true;
    throw_refused(&refused);
    return false;
}
