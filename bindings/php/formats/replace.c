/* Replaces text inside of frozen data; nothing is built, and no code of the program runs
 * before everything is done. */
#include "formats/replace.h"
#include "core/documents.h"
#include "core/memory.h"

#define FUNCTION "Icecore\\replace"

/* ---- options ------------------------------------------------------------ */

static const struct {
    const char *name;
    uint32_t flag;
} switches[] = {
    { "keys", ICECORE_REPLACE_KEYS },
    { "classes", ICECORE_REPLACE_CLASSES },
    { "base64", ICECORE_REPLACE_BASE64 },
    { "mend", ICECORE_REPLACE_MEND },
    { "regex", ICECORE_REPLACE_REGEX },
    { "ignore_case", ICECORE_REPLACE_IGNORE_CASE },
    { "url", ICECORE_REPLACE_URL },
};

typedef struct {
    zend_string *format; /* NULL: detected from the data */
    zend_long depth;
    uint32_t flags;
} settings;

/* Returns the flag with this name; 0: there is none. */
static uint32_t
flag_named(zend_string *name)
{
    size_t i;
    for (i = 0; i < sizeof switches / sizeof *switches; i++)
        if (strlen(switches[i].name) == ZSTR_LEN(name) && memcmp(switches[i].name, ZSTR_VAL(name), ZSTR_LEN(name)) == 0)
            return switches[i].flag;
    return 0;
}

/* Reads one option. False: an exception was thrown. */
static bool
take_option(settings *set, zend_string *name, zval *value)
{
    uint32_t flag = name ? flag_named(name) : 0;
    ZVAL_DEREF(value);
    if (flag) {
        if (Z_TYPE_P(value) != IS_TRUE && Z_TYPE_P(value) != IS_FALSE) {
            zend_type_error("%s(): Option \"%s\" must be of type bool, %s given", FUNCTION, ZSTR_VAL(name), ice_type_of(value));
            return false;
        }
        set->flags |= Z_TYPE_P(value) == IS_TRUE ? flag : 0;
        return true;
    }
    if (name && zend_string_equals_literal(name, "format")) {
        if (Z_TYPE_P(value) != IS_STRING && Z_TYPE_P(value) != IS_NULL) {
            zend_type_error("%s(): Option \"format\" must be of type ?string, %s given", FUNCTION, ice_type_of(value));
            return false;
        }
        set->format = Z_TYPE_P(value) == IS_STRING ? Z_STR_P(value) : NULL;
        return true;
    }
    if (name && zend_string_equals_literal(name, "max_depth"))
        return true;
    zend_value_error("%s(): There is no option \"%s\"; there are keys, classes, base64, mend, regex, ignore_case, url, "
                     "format and max_depth",
                     FUNCTION, name ? ZSTR_VAL(name) : "0");
    return false;
}

static bool
take_options(settings *set, HashTable *options)
{
    zend_string *name;
    zval *value;
    if (!options)
        return true;
    ZEND_HASH_FOREACH_STR_KEY_VAL(options, name, value) {
        if (!take_option(set, name, value))
            return false;
    } ZEND_HASH_FOREACH_END();
    return ice_read_max_depth(options, FUNCTION, &set->depth);
}

/* ---- pairs -------------------------------------------------------------- */

typedef struct {
    icecore_pair *all;
    zend_string **held; /* two for each pair */
    size_t count;
} pairs;

static void
add_pair(pairs *list, zend_string *old, zend_string *new)
{
    icecore_pair *pair = &list->all[list->count];
    pair->from = (const uint8_t *)ZSTR_VAL(old);
    pair->from_len = ZSTR_LEN(old);
    pair->to = (const uint8_t *)ZSTR_VAL(new);
    pair->to_len = ZSTR_LEN(new);
    list->held[2 * list->count] = old;
    list->held[2 * list->count + 1] = new;
    list->count++;
}

static void
pairs_begin(pairs *list, size_t most)
{
    list->all = safe_emalloc(MAX(most, 1), sizeof *list->all, 0);
    list->held = safe_emalloc(MAX(most, 1), 2 * sizeof *list->held, 0);
    list->count = 0;
}

static void
pairs_end(pairs *list)
{
    size_t i;
    for (i = 0; i < 2 * list->count; i++)
        zend_string_release(list->held[i]);
    efree(list->all);
    efree(list->held);
}

/* Returns the text of an item. NULL: an exception was thrown. */
static zend_string *
text_of(zval *item, uint32_t argument)
{
    ZVAL_DEREF(item);
    if (Z_TYPE_P(item) == IS_STRING || Z_TYPE_P(item) == IS_LONG)
        return zval_get_string(item);
    zend_argument_type_error(argument, "must contain only strings, %s given", ice_type_of(item));
    return NULL;
}

/* Reads `['old' => 'new', ...]`. */
static bool
take_map(pairs *list, HashTable *map)
{
    zend_ulong number;
    zend_string *key, *new;
    zval *value;
    if (zend_hash_num_elements(map) > 0 && zend_array_is_list(map)) {
        zend_argument_type_error(2, "must not be null when argument #1 ($old) is a list: without it, argument #1 is "
                                    "['old' => 'new']");
        return false;
    }
    ZEND_HASH_FOREACH_KEY_VAL(map, number, key, value) {
        if (!(new = text_of(value, 1)))
            return false;
        add_pair(list, key ? zend_string_copy(key) : zend_long_to_str((zend_long)number), new);
    } ZEND_HASH_FOREACH_END();
    return true;
}

/* Returns the next item of a list; NULL: there is none. */
static zval *
next_item(HashTable *list, HashPosition *at)
{
    zval *item = list ? zend_hash_get_current_data_ex(list, at) : NULL;
    if (item)
        zend_hash_move_forward_ex(list, at);
    return item;
}

/* As in str_replace: each text becomes the one at the same position, or nothing; or all
 * become the same text. */
static bool
take_lists(pairs *list, HashTable *olds, HashTable *news, zend_string *same)
{
    HashPosition at;
    zend_string *old, *new;
    zval *item, *its;
    if (news)
        zend_hash_internal_pointer_reset_ex(news, &at);
    ZEND_HASH_FOREACH_VAL(olds, item) {
        if (!(old = text_of(item, 1)))
            return false;
        its = next_item(news, &at);
        new = its ? text_of(its, 2) : same ? zend_string_copy(same) : ZSTR_EMPTY_ALLOC();
        if (!new) {
            zend_string_release(old);
            return false;
        }
        add_pair(list, old, new);
    } ZEND_HASH_FOREACH_END();
    return true;
}

static bool
take_pairs(pairs *list, HashTable *olds, zend_string *old, HashTable *news, zend_string *new)
{
    pairs_begin(list, olds ? zend_hash_num_elements(olds) : 1);
    if (olds)
        return news || new ? take_lists(list, olds, news, new) : take_map(list, olds);
    if (!new) {
        zend_argument_type_error(2, "must be of type string when argument #1 ($old) is a string, %s given",
                                 news ? "array" : "null");
        return false;
    }
    add_pair(list, zend_string_copy(old), zend_string_copy(new));
    return true;
}

/* ---- replacing ---------------------------------------------------------- */

/* Prepares the kept replacer for this call. False: an exception was thrown. */
static bool
prepare(const settings *set, const pairs *list)
{
    icecore_error error;
    if (!ICE_G(replacer))
        ICE_G(replacer) = icecore_replacer_new();
    if (icecore_replacer_prepare(ICE_G(replacer), list->all, list->count, set->format ? ZSTR_VAL(set->format) : NULL,
                                 set->format ? ZSTR_LEN(set->format) : 0, set->flags, &error)) {
        ice_throw_error(ice_exception, &error);
        return false;
    }
    if (set->depth != ICE_DEFAULT_DEPTH)
        icecore_replacer_limit(ICE_G(replacer), ZEND_STRL("depth"), set->depth ? (uint64_t)set->depth : UINT64_MAX, NULL);
    return true;
}

/* Estimate: finding the strings takes this many times the size of the data. */
#define TIMES 4

/* Limits the memory of the insertions, half for the places and half for the result;
 * preparing the replacer removes the limit again. Its other limits stay: data beyond one
 * of them would be treated as text. */
static bool
limit_memory(size_t len)
{
    const uint64_t left = ice_memory_available();
    if (left == UINT64_MAX)
        return true;
    ice_memory_check(TIMES * len);
    return icecore_replacer_limit(ICE_G(replacer), ZEND_STRL("memory"), left / 2, NULL) == ICECORE_OK;
}

/* Applies the replacer. False: an exception was thrown. */
static bool
apply(zend_string *data, icecore_replaced *counts, zval *return_value)
{
    icecore_error error;
    const uint64_t left = ice_memory_available();
    /* The end of the request finds it there, if PHP's memory is too small for a copy. */
    icecore_buffer *out = &ICE_G(replace_output);
    icecore_buffer_free(out);
    if (!limit_memory(ZSTR_LEN(data)))
        return false;
    if (icecore_replacer_apply(ICE_G(replacer), (const uint8_t *)ZSTR_VAL(data), ZSTR_LEN(data), out, counts, &error)) {
        if (ice_memory_was_exceeded(&error, left))
            ice_memory_free_or_fail(left, (size_t)left + ZEND_MM_ALIGNMENT);
        ice_throw_error(error.kind == ICECORE_USAGE ? ice_exception : ice_decode_exception, &error);
        return false;
    }
    if (counts->is_changed) {
        /* Both exist for a moment. */
        ice_memory_check(2 * out->len);
        RETVAL_STRINGL((const char *)out->bytes, out->len);
    } else
        RETVAL_STR_COPY(data);
    icecore_buffer_free(out);
    return true;
}

static void
fill_report(zval *report, const icecore_replaced *counts)
{
    zval explanations;
    const char *at, *end;
    char *next;
    report = zend_try_array_init(report);
    if (!report)
        return;
    add_assoc_long(report, "strings", (zend_long)counts->strings);
    add_assoc_long(report, "occurrences", (zend_long)counts->occurrences);
    add_assoc_long(report, "frozen", (zend_long)counts->frozen);
    add_assoc_long(report, "broken", (zend_long)counts->broken);
    add_assoc_long(report, "mended", (zend_long)counts->mended);
    add_assoc_long(report, "guessed", (zend_long)counts->guessed);
    array_init(&explanations);
    for (at = counts->explanations; (end = strchr(at, '=')); at = next + (*next == ','))
        add_assoc_long_ex(&explanations, at, (size_t)(end - at), (zend_long)ZEND_STRTOUL(end + 1, &next, 10));
    add_assoc_zval(report, "explanations", &explanations);
    add_assoc_long(report, "opaque", (zend_long)counts->opaque);
    add_assoc_long(report, "unsayable", (zend_long)counts->unsayable);
    add_assoc_long(report, "signed", (zend_long)counts->signed_values);
    if (*counts->first_broken)
        add_assoc_string(report, "first_broken", counts->first_broken);
    else
        add_assoc_null(report, "first_broken");
}

PHP_FUNCTION(Icecore_replace)
{
    zend_string *old = NULL, *new = NULL, *data;
    HashTable *olds = NULL, *news = NULL, *options = NULL;
    zval *report = NULL;
    settings set = { NULL, ICE_DEFAULT_DEPTH, 0 };
    icecore_replaced counts;
    pairs list;
    bool is_done;
    ZEND_PARSE_PARAMETERS_START(3, 5)
        Z_PARAM_ARRAY_HT_OR_STR(olds, old)
        Z_PARAM_ARRAY_HT_OR_STR_OR_NULL(news, new)
        Z_PARAM_STR(data)
        Z_PARAM_OPTIONAL
        Z_PARAM_ARRAY_HT(options)
        Z_PARAM_ZVAL(report)
    ZEND_PARSE_PARAMETERS_END();
    if (!take_options(&set, options))
        RETURN_THROWS();
    is_done = take_pairs(&list, olds, old, news, new) && prepare(&set, &list);
    pairs_end(&list);
    if (!is_done || !apply(data, &counts, return_value))
        RETURN_THROWS();
    if (report)
        fill_report(report, &counts);
}

void
ice_replace_end_request(void)
{
    icecore_buffer_free(&ICE_G(replace_output));
    icecore_replacer_free(ICE_G(replacer));
    ICE_G(replacer) = NULL;
}
