/* Which classes may be built.
 *
 * With `allowed_classes` PHP's rule holds: the names in the list, case-insensitively;
 * all other classes become incomplete objects. Otherwise these layers are asked, by the
 * engine's rules: the option `classes` of the call, Icecore\allow in this request, and
 * the ini value icecore.classes. */
#include "core/icecore_php.h"
#include "ext/standard/php_string.h"

/* Number of names that are passed to the engine at once. */
#define LENT 64

static icecore_class_name
lent_name(const char *bytes, size_t len)
{
    const icecore_class_name name = { (const uint8_t *)bytes, len, 0 };
    return name;
}

/* ---- options of a call -------------------------------------------------- */

static bool
begin_list(ice_allowed *allowed, HashTable *names)
{
    zval *item;
    ALLOC_HASHTABLE(allowed->list);
    zend_hash_init(allowed->list, zend_hash_num_elements(names), NULL, NULL, 0);
    ZEND_HASH_FOREACH_VAL(names, item) {
        zend_string *name = zval_get_string(item), *small = zend_string_tolower(name);
        zend_hash_add_empty_element(allowed->list, small);
        zend_string_release(small);
        zend_string_release(name);
        if (EG(exception))
            return false;
    } ZEND_HASH_FOREACH_END();
    return true;
}

#if PHP_VERSION_ID >= 80400
/* Since PHP 8.4, invalid class names are an error. */
static bool
are_names(HashTable *list, const char *function)
{
    zval *item;
    ZEND_HASH_FOREACH_VAL(list, item) {
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
ice_allowed_begin(ice_allowed *allowed, HashTable *options, const char *function)
{
    zval *list, *own, *item;
    if (!options)
        return true;
    list = zend_hash_str_find_deref(options, ZEND_STRL("allowed_classes"));
    own = zend_hash_str_find_deref(options, ZEND_STRL("classes"));
    if (list) {
        if (Z_TYPE_P(list) != IS_ARRAY && Z_TYPE_P(list) != IS_TRUE && Z_TYPE_P(list) != IS_FALSE) {
            zend_type_error("%s(): Option \"allowed_classes\" must be of type array|bool, %s given", function,
                            ice_type_of(list));
            return false;
        }
#if PHP_VERSION_ID >= 80400
        if (Z_TYPE_P(list) == IS_ARRAY && !are_names(Z_ARRVAL_P(list), function))
            return false;
#endif
        allowed->has_list = true;
        allowed->all = Z_TYPE_P(list) == IS_TRUE;
        if (Z_TYPE_P(list) == IS_ARRAY && !begin_list(allowed, Z_ARRVAL_P(list)))
            return false;
    }
    if (!own || Z_TYPE_P(own) == IS_NULL)
        return true;
    if (list) {
        zend_value_error("%s(): Options \"allowed_classes\" and \"classes\" exclude each other", function);
        return false;
    }
    if (Z_TYPE_P(own) == IS_ARRAY) {
        ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(own), item) {
            ZVAL_DEREF(item);
            if (Z_TYPE_P(item) != IS_STRING) {
                zend_type_error("%s(): Option \"classes\" must be an array of strings, %s found in it", function,
                                ice_type_of(item));
                return false;
            }
        } ZEND_HASH_FOREACH_END();
    } else if (Z_TYPE_P(own) != IS_STRING) {
        zend_type_error("%s(): Option \"classes\" must be of type array|string, %s given", function,
                        ice_type_of(own));
        return false;
    }
    allowed->own = own;
    return true;
}

void
ice_allowed_end(ice_allowed *allowed)
{
    if (allowed->list) {
        zend_hash_destroy(allowed->list);
        FREE_HASHTABLE(allowed->list);
        allowed->list = NULL;
    }
}

/* ---- lists of the request and of the process ---------------------------- */

bool
ice_policy_allow(zend_string *class)
{
    const icecore_class_name name = lent_name(ZSTR_VAL(class), ZSTR_LEN(class));
    icecore_error error;
    ICE_G(rules)++;
    if (!ICE_G(request))
        ICE_G(request) = icecore_rules_new(ICECORE_NAMES_PHP);
    if (icecore_rules_allow(ICE_G(request), &name, 0, &error) == ICECORE_OK)
        return true;
    ice_throw_error(ice_exception, &error);
    return false;
}

void
ice_policy_end_request(void)
{
    icecore_rules_free(ICE_G(request));
    ICE_G(request) = NULL;
    ICE_G(rules)++;
    if (ICE_G(reported)) {
        zend_hash_destroy(ICE_G(reported));
        FREE_HASHTABLE(ICE_G(reported));
        ICE_G(reported) = NULL;
    }
}

/* Parses a value of icecore.classes: names and patterns separated by commas or blanks,
 * or a word. NULL: it is empty. */
icecore_rules *
ice_policy_rules(const char *text, size_t len)
{
    static const char between[] = ", \t\r\n";
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
        while (text < end && !strchr(between, *text))
            text++;
        if (text > start) {
            const icecore_class_name name = lent_name(start, text - start);
            const uint32_t says = icecore_policy_word(start, text - start);
            is_empty = false;
            if (says != ICECORE_ASK_ON)
                icecore_rules_otherwise(rules, says);
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

/* ---- the question ------------------------------------------------------- */

static bool
ask_own(icecore_question *question, zval *own)
{
    icecore_class_name lent[LENT];
    size_t count = 0;
    zval *item;
    uint32_t word;
    if (!own)
        return false;
    if (Z_TYPE_P(own) == IS_STRING) {
        word = icecore_policy_word(Z_STRVAL_P(own), Z_STRLEN_P(own));
        if (word != ICECORE_ASK_ON)
            return icecore_question_otherwise(question, word);
        lent[0] = lent_name(Z_STRVAL_P(own), Z_STRLEN_P(own));
        return icecore_question_items(question, lent, 1);
    }
    ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(own), item) {
        ZVAL_DEREF(item);
        lent[count++] = lent_name(Z_STRVAL_P(item), Z_STRLEN_P(item));
        if (count == LENT) {
            if (icecore_question_items(question, lent, count))
                return true;
            count = 0;
        }
    } ZEND_HASH_FOREACH_END();
    return count && icecore_question_items(question, lent, count);
}

static bool
is_listed(const ice_allowed *allowed, const char *bytes, size_t len)
{
    zend_string *small;
    bool found;
    if (allowed->all)
        return true;
    if (!allowed->list)
        return false;
    small = zend_string_alloc(len, 0);
    zend_str_tolower_copy(ZSTR_VAL(small), bytes, len);
    found = zend_hash_exists(allowed->list, small);
    zend_string_release(small);
    return found;
}

static bool
is_std_class(const char *bytes, size_t len)
{
    return len == 8 && zend_binary_strcasecmp(bytes, len, ZEND_STRL("stdClass")) == 0;
}

static uint32_t
verdict_by_name(const ice_allowed *allowed, const char *bytes, size_t len)
{
    const icecore_class_name name = lent_name(bytes, len);
    icecore_question question;
    if (allowed->has_list)
        return is_listed(allowed, bytes, len) ? ICECORE_ALLOWED : ICECORE_REFUSED;
    if (is_std_class(bytes, len))
        return ICECORE_ALLOWED;
    if (icecore_question_begin(&question, &name, ICECORE_NAMES_PHP, NULL) != ICECORE_OK)
        return ICECORE_REFUSED;
    if (!ask_own(&question, allowed->own) && !icecore_question_rules(&question, ICE_G(request)) &&
        !icecore_question_rules(&question, ICE_G(process)) && allowed->as_php && !allowed->own && !ICE_G(process))
        icecore_question_otherwise(&question, ICECORE_ANY);
    return icecore_question_answer(&question);
}

/* Returns a name with the separators of the other languages. */
static zend_string *
other_name(const char *bytes, size_t len)
{
    if (memchr(bytes, '\\', len))
        return php_str_to_str(bytes, len, ZEND_STRL("\\"), ZEND_STRL("::"));
    return php_str_to_str(bytes, len, ZEND_STRL("::"), ZEND_STRL("\\"));
}

static uint32_t
verdict_of(const ice_allowed *allowed, const char *bytes, size_t len)
{
    uint32_t verdict = verdict_by_name(allowed, bytes, len);
    if (UNEXPECTED(allowed->is_foreign) && verdict == ICECORE_REFUSED) {
        zend_string *other = other_name(bytes, len);
        verdict = verdict_by_name(allowed, ZSTR_VAL(other), ZSTR_LEN(other));
        zend_string_release(other);
    }
    return verdict;
}

bool
ice_policy_is_record(const ice_allowed *allowed, const char *class, size_t len)
{
    return (verdict_of(allowed, class, len) & ~(uint32_t)ICECORE_REPORTED) == ICECORE_AS_RECORD;
}

/* ---- messages ----------------------------------------------------------- */

static zend_string *
words(uint32_t what, const char *bytes, size_t len, const char *path)
{
    const icecore_class_name name = lent_name(bytes, len);
    const size_t path_len = strlen(path);
    const size_t room = icecore_class_words(what, ICECORE_PHP, &name, 0, path, path_len, NULL, 0);
    zend_string *text = zend_string_alloc(room, 0);
    icecore_class_words(what, ICECORE_PHP, &name, 0, path, path_len, ZSTR_VAL(text), room + 1);
    return text;
}

/* Logs a message about a class, once in a request. */
static void
report(uint32_t what, const char *bytes, size_t len, const char *path)
{
    zend_string *said, *line;
    if (!ICE_G(reported)) {
        ALLOC_HASHTABLE(ICE_G(reported));
        zend_hash_init(ICE_G(reported), 8, NULL, NULL, 0);
    }
    if (!zend_hash_str_add_empty_element(ICE_G(reported), bytes, len))
        return;
    said = words(what, bytes, len, path);
    line = zend_string_concat2(ZEND_STRL("Icecore: "), ZSTR_VAL(said), ZSTR_LEN(said));
    php_log_err(ZSTR_VAL(line));
    zend_string_release(line);
    zend_string_release(said);
}

/* ---- all classes of a document ------------------------------------------ */

/* Beyond this number, refused classes are only counted. */
#define LISTED 1000

/* The refused classes, for the exception. */
typedef struct {
    zval places; /* class => path */
    zend_string *first; /* the message about the first one */
    uint32_t more; /* number of classes that are not among the places */
} refusal;

static void
refuse(refusal *refused, const char *bytes, size_t len, const char *path, bool is_reported)
{
    if (!refused->first) {
        array_init(&refused->places);
        refused->first = words(ICECORE_WORDS_REFUSED, bytes, len, path);
    }
    if (!zend_hash_str_exists(Z_ARRVAL(refused->places), bytes, len)) {
        zval place;
        ZVAL_STRING(&place, path);
        zend_hash_str_add_new(Z_ARRVAL(refused->places), bytes, len, &place);
    }
    if (is_reported)
        report(ICECORE_WORDS_REFUSED, bytes, len, path);
}

/* Returns the message about several classes. */
static zend_string *
all_words(refusal *refused)
{
    smart_str said = { 0 }, names = { 0 };
    zend_string *class;
    zval *place;
    bool is_first = true;
    smart_str_appends(&said, "these classes are not allowed: ");
    ZEND_HASH_FOREACH_STR_KEY_VAL(Z_ARRVAL(refused->places), class, place) {
        zend_string *shown, *literal;
        if (!class)
            continue;
        shown = words(ICECORE_WORDS_SHOWN, ZSTR_VAL(class), ZSTR_LEN(class), "");
        literal = words(ICECORE_WORDS_LITERAL, ZSTR_VAL(class), ZSTR_LEN(class), "");
        smart_str_appends(&said, is_first ? "" : ", ");
        smart_str_append(&said, shown);
        smart_str_appends(&said, " at ");
        smart_str_append(&said, Z_STR_P(place));
        smart_str_appends(&names, is_first ? "" : ", ");
        smart_str_append(&names, literal);
        zend_string_release(shown);
        zend_string_release(literal);
        is_first = false;
    } ZEND_HASH_FOREACH_END();
    if (refused->more) {
        smart_str_appends(&said, ", and ");
        smart_str_append_unsigned(&said, refused->more);
        smart_str_appends(&said, " more");
    }
    smart_str_appends(&said, "; allow them with 'allowed_classes' => [");
    smart_str_append_smart_str(&said, &names);
    smart_str_appends(&said, "], in this call or for the rest of the request with Icecore\\allow(");
    smart_str_append_smart_str(&said, &names);
    smart_str_appendc(&said, ')');
    smart_str_0(&said);
    smart_str_free(&names);
    return said.s;
}

static void
throw_refusal(refusal *refused)
{
    const bool is_one = zend_hash_num_elements(Z_ARRVAL(refused->places)) == 1;
    zval *place = zend_hash_get_current_data(Z_ARRVAL(refused->places));
    zend_string *message = is_one ? zend_string_copy(refused->first) : all_words(refused);
    zend_string *line = zend_string_concat2(ZEND_STRL("Icecore: "), ZSTR_VAL(message), ZSTR_LEN(message));
    ice_throw(ice_class_exception, "class", -1, Z_STRVAL_P(place), line);
    if (EG(exception) && EG(exception)->ce == ice_class_exception)
        zend_update_property(ice_class_exception, EG(exception), ZEND_STRL("classes"), &refused->places);
    zend_string_release(message);
    zend_string_release(refused->first);
    zval_ptr_dtor(&refused->places);
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

/* Returns the version of the rules for a call; 0: the call has its own rules. */
static uint32_t
rules_of(const ice_allowed *allowed)
{
    if (allowed->has_list || allowed->own || allowed->is_foreign)
        return 0;
    return (ICE_G(rules) << 2) | (allowed->as_php ? 2 : 0) | 1;
}

bool
ice_policy_check(ice_context *ctx, const ice_allowed *allowed, bool *opaque)
{
    const icecore_view *view = &ctx->view;
    const icecore_node *node = view->nodes, *end = node + view->node_count;
    refusal refused = { .first = NULL };
    uint32_t asked = UINT32_MAX; /* the class of the last object */
    const uint32_t rules = rules_of(allowed);
    *opaque = false;
    for (; node < end; node++) {
        const char *text;
        size_t len;
        uint32_t verdict;
        ice_class *class = NULL;
        if (EXPECTED(node->kind < ICECORE_ENUM_CASE))
            continue;
        if (node->kind == ICECORE_OBJECT ? ICE_CLASS_OF(node) == asked
                                         : node->kind != ICECORE_OPAQUE && node->kind != ICECORE_ENUM_CASE)
            continue;
        if (node->kind == ICECORE_ENUM_CASE) {
            text = enum_class(view, node, &len);
            verdict = verdict_of(allowed, text, len);
        } else {
            class = ice_class_of(ctx, ICE_CLASS_OF(node));
            asked = ICE_CLASS_OF(node);
            *opaque |= node->kind == ICECORE_OPAQUE;
            if (class->call == ctx->call)
                continue;
            text = ZSTR_VAL(class->name);
            len = ZSTR_LEN(class->name);
            class->call = ctx->call;
            if (rules && class->rules == rules)
                verdict = ICECORE_ALLOWED;
            else {
                verdict = verdict_of(allowed, text, len);
                /* Reported classes are asked again each time. */
                class->rules = verdict == ICECORE_ALLOWED ? rules : 0;
            }
            if (class->verdict != (verdict & ~(uint32_t)ICECORE_REPORTED) || !class->ce)
                class->how = ICE_UNKNOWN;
            class->verdict = verdict & ~(uint32_t)ICECORE_REPORTED;
        }
        if (verdict == (ICECORE_ALLOWED | ICECORE_REPORTED))
            report(ICECORE_WORDS_BUILT, text, len, "");
        else if ((verdict & ~(uint32_t)ICECORE_REPORTED) == ICECORE_REFUSED && (!allowed->has_list || !class)) {
            if (refused.first && zend_hash_num_elements(Z_ARRVAL(refused.places)) >= LISTED)
                refused.more++;
            else {
                char path[512];
                icecore_path(ctx->warm.engine, view->input, view->input_len, (uint32_t)(node - view->nodes), path,
                             sizeof path);
                refuse(&refused, text, len, path, verdict & ICECORE_REPORTED);
            }
        }
    }
    if (!refused.first)
        return true;
    throw_refusal(&refused);
    return false;
}

bool
ice_policy_check_names(const ice_allowed *allowed, HashTable *names)
{
    refusal refused = { .first = NULL };
    zend_string *name;
    zval *path;
    ZEND_HASH_FOREACH_STR_KEY_VAL(names, name, path) {
        const uint32_t verdict = verdict_of(allowed, ZSTR_VAL(name), ZSTR_LEN(name));
        if (verdict == (ICECORE_ALLOWED | ICECORE_REPORTED))
            report(ICECORE_WORDS_BUILT, ZSTR_VAL(name), ZSTR_LEN(name), "");
        else if (Z_TYPE_P(path) == IS_TRUE
                     ? (verdict & ~(uint32_t)ICECORE_REPORTED) != ICECORE_ALLOWED
                     : (verdict & ~(uint32_t)ICECORE_REPORTED) == ICECORE_REFUSED && !allowed->has_list)
            refuse(&refused, ZSTR_VAL(name), ZSTR_LEN(name), Z_TYPE_P(path) == IS_STRING ? Z_STRVAL_P(path) : "$",
                   verdict & ICECORE_REPORTED);
        if ((verdict & ~(uint32_t)ICECORE_REPORTED) != ICECORE_ALLOWED)
            zend_hash_del(names, name);
    } ZEND_HASH_FOREACH_END();
    if (!refused.first)
        return true;
    throw_refusal(&refused);
    return false;
}
