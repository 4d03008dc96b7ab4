/* Replaces text inside of serialized data. No value is built, and no code of the program runs
 * during the replacement. */
#include "formats/replace.h"
#include "core/documents.h"
#include "core/memory.h"

#define FUNCTION "Icecore\\replace"

/* ---- options ------------------------------------------------------------ */

/* The options that are true or false. */
static const struct {
    const char *name;
    uint32_t flag;
} flag_options[] = {
    { "keys", ICECORE_REPLACE_KEYS },
    { "classes", ICECORE_REPLACE_CLASSES },
    { "base64", ICECORE_REPLACE_BASE64 },
    { "mend", ICECORE_REPLACE_MEND },
    { "regex", ICECORE_REPLACE_REGEX },
    { "ignore_case", ICECORE_REPLACE_IGNORE_CASE },
    { "url", ICECORE_REPLACE_URL },
};

typedef struct {
    zend_string *format; /* NULL if the format is detected from the data */
    zend_long depth;
    uint32_t flags;
} replace_settings;

/* Returns the flag of the option with this name, or 0 if there is none. */
static uint32_t
find_flag(zend_string *name)
{
    size_t i;
    for (i = 0; i < sizeof flag_options / sizeof *flag_options; i++)
        if (strlen(flag_options[i].name) == ZSTR_LEN(name) &&
            memcmp(flag_options[i].name, ZSTR_VAL(name), ZSTR_LEN(name)) == 0)
            return flag_options[i].flag;
    return 0;
}

/* Each function below returns false or NULL if an exception was thrown. */

/* Reads one option. `name` is NULL if its key is an integer. */
static bool
read_option(replace_settings *settings, zend_string *name, zval *value)
{
    uint32_t flag = name ? find_flag(name) : 0;
    ZVAL_DEREF(value);
    if (flag) {
        if (Z_TYPE_P(value) != IS_TRUE && Z_TYPE_P(value) != IS_FALSE) {
            zend_type_error("%s(): Option \"%s\" must be of type bool, %s given", FUNCTION, ZSTR_VAL(name),
                            ice_type_of(value));
            return false;
        }
        settings->flags |= Z_TYPE_P(value) == IS_TRUE ? flag : 0;
        return true;
    }
    if (name && zend_string_equals_literal(name, "format")) {
        if (Z_TYPE_P(value) != IS_STRING && Z_TYPE_P(value) != IS_NULL) {
            zend_type_error("%s(): Option \"format\" must be of type ?string, %s given", FUNCTION,
                            ice_type_of(value));
            return false;
        }
        settings->format = Z_TYPE_P(value) == IS_STRING ? Z_STR_P(value) : NULL;
        return true;
    }
    /* ice_read_max_depth reads this option. */
    if (name && zend_string_equals_literal(name, "max_depth"))
        return true;
    zend_value_error("%s(): There is no option \"%s\"; there are keys, classes, base64, mend, regex, ignore_case, "
                     "url, format and max_depth",
                     FUNCTION, name ? ZSTR_VAL(name) : "0");
    return false;
}

static bool
read_options(replace_settings *settings, HashTable *options)
{
    zend_string *name;
    zval *value;
    if (!options)
        return true;
    ZEND_HASH_FOREACH_STR_KEY_VAL(options, name, value) {
        if (!read_option(settings, name, value))
            return false;
    } ZEND_HASH_FOREACH_END();
    return ice_read_max_depth(options, FUNCTION, &settings->depth);
}

/* ---- pairs -------------------------------------------------------------- */

/* Pairs of old and new texts. */
typedef struct {
    icecore_pair *items;
    zend_string **texts; /* the strings of the items, two for each: the list owns references to them */
    size_t count;
} pair_list;

/* Adds a pair, and takes over the caller's references. */
static void
add_pair(pair_list *pairs, zend_string *old, zend_string *new)
{
    icecore_pair *pair = &pairs->items[pairs->count];
    pair->from = (const uint8_t *)ZSTR_VAL(old);
    pair->from_len = ZSTR_LEN(old);
    pair->to = (const uint8_t *)ZSTR_VAL(new);
    pair->to_len = ZSTR_LEN(new);
    pairs->texts[2 * pairs->count] = old;
    pairs->texts[2 * pairs->count + 1] = new;
    pairs->count++;
}

/* Makes room for pairs. */
static void
pairs_init(pair_list *pairs, size_t max_count)
{
    pairs->items = safe_emalloc(MAX(max_count, 1), sizeof *pairs->items, 0);
    pairs->texts = safe_emalloc(MAX(max_count, 1), 2 * sizeof *pairs->texts, 0);
    pairs->count = 0;
}

/* Frees the pairs, and releases their texts. */
static void
pairs_free(pair_list *pairs)
{
    size_t i;
    for (i = 0; i < 2 * pairs->count; i++)
        zend_string_release(pairs->texts[i]);
    efree(pairs->items);
    efree(pairs->texts);
}

/* Returns the text of an item in this argument of the function. */
static zend_string *
item_text(zval *item, uint32_t argument)
{
    ZVAL_DEREF(item);
    if (Z_TYPE_P(item) == IS_STRING || Z_TYPE_P(item) == IS_LONG)
        return zval_get_string(item);
    zend_argument_type_error(argument, "must contain only strings, %s given", ice_type_of(item));
    return NULL;
}

/* Reads `['old' => 'new', ...]`. */
static bool
read_map(pair_list *pairs, HashTable *map)
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
        if (!(new = item_text(value, 1)))
            return false;
        add_pair(pairs, key ? zend_string_copy(key) : zend_long_to_str((zend_long)number), new);
    } ZEND_HASH_FOREACH_END();
    return true;
}

/* Returns the next item of a list, and moves past it; NULL at the end, or if the list is NULL. */
static zval *
next_item(HashTable *list, HashPosition *position)
{
    zval *item = list ? zend_hash_get_current_data_ex(list, position) : NULL;
    if (item)
        zend_hash_move_forward_ex(list, position);
    return item;
}

/* Reads a list of old texts. As in str_replace, each becomes the new text at the same position in
 * `news`, or an empty text after its end. If `news` is NULL, all become the text `new_for_all`. */
static bool
read_lists(pair_list *pairs, HashTable *olds, HashTable *news, zend_string *new_for_all)
{
    HashPosition position;
    zend_string *old, *new;
    zval *item, *new_item;
    if (news)
        zend_hash_internal_pointer_reset_ex(news, &position);
    ZEND_HASH_FOREACH_VAL(olds, item) {
        if (!(old = item_text(item, 1)))
            return false;
        new_item = next_item(news, &position);
        new = new_item ? item_text(new_item, 2) : new_for_all ? zend_string_copy(new_for_all) : ZSTR_EMPTY_ALLOC();
        if (!new) {
            zend_string_release(old);
            return false;
        }
        add_pair(pairs, old, new);
    } ZEND_HASH_FOREACH_END();
    return true;
}

/* Reads the arguments $old and $new, each of which is a list or a string. The caller frees the
 * pairs, even after a failure. */
static bool
read_pairs(pair_list *pairs, HashTable *olds, zend_string *old, HashTable *news, zend_string *new)
{
    pairs_init(pairs, olds ? zend_hash_num_elements(olds) : 1);
    if (olds)
        return news || new ? read_lists(pairs, olds, news, new) : read_map(pairs, olds);
    if (!new) {
        zend_argument_type_error(2, "must be of type string when argument #1 ($old) is a string, %s given",
                                 news ? "array" : "null");
        return false;
    }
    add_pair(pairs, zend_string_copy(old), zend_string_copy(new));
    return true;
}

/* ---- replacing ---------------------------------------------------------- */

/* Prepares the replacer, which is kept from call to call. */
static bool
prepare_replacer(const replace_settings *settings, const pair_list *pairs)
{
    icecore_error error;
    if (!ICE_G(replacer))
        ICE_G(replacer) = icecore_replacer_new();
    if (icecore_replacer_prepare(ICE_G(replacer), pairs->items, pairs->count,
                                 settings->format ? ZSTR_VAL(settings->format) : NULL,
                                 settings->format ? ZSTR_LEN(settings->format) : 0, settings->flags, &error)) {
        ice_throw_error(ice_exception, &error);
        return false;
    }
    if (settings->depth != ICE_DEFAULT_DEPTH)
        icecore_replacer_limit(ICE_G(replacer), ZEND_STRL("depth"),
                               settings->depth ? (uint64_t)settings->depth : UINT64_MAX, NULL);
    return true;
}

/* The engine needs about this many times the size of the data to find the strings. */
#define SEARCH_MEMORY_FACTOR 4

/* Limits the memory for the insertions: half of what is available for their positions, and half
 * for the result. The next call of icecore_replacer_prepare removes this limit. Other limits are
 * not lowered, because data that exceeds one is replaced as plain text. */
static bool
limit_memory(size_t len)
{
    const uint64_t available = ice_memory_available();
    if (available == UINT64_MAX)
        return true;
    ice_memory_check(SEARCH_MEMORY_FACTOR * len);
    return icecore_replacer_limit(ICE_G(replacer), ZEND_STRL("memory"), available / 2, NULL) == ICECORE_OK;
}

/* Applies the replacer. */
static bool
apply_replacer(zend_string *data, icecore_replaced *counts, zval *return_value)
{
    icecore_error error;
    const uint64_t available = ice_memory_available();
    /* A global, so that the end of the request frees it if PHP has no memory for the copy. */
    icecore_buffer *out = &ICE_G(replace_output);
    icecore_buffer_free(out);
    if (!limit_memory(ZSTR_LEN(data)))
        return false;
    if (icecore_replacer_apply(ICE_G(replacer), (const uint8_t *)ZSTR_VAL(data), ZSTR_LEN(data), out, counts,
                               &error)) {
        if (ice_memory_was_exceeded(&error, available))
            ice_memory_free_or_fail(available, (size_t)available + ZEND_MM_ALIGNMENT);
        ice_throw_error(error.kind == ICECORE_USAGE ? ice_exception : ice_decode_exception, &error);
        return false;
    }
    if (counts->is_changed) {
        /* The output and its copy exist at the same time. */
        ice_memory_check(2 * out->len);
        RETVAL_STRINGL((const char *)out->bytes, out->len);
    } else
        RETVAL_STR_COPY(data);
    icecore_buffer_free(out);
    return true;
}

/* Fills the argument $report. */
static void
fill_report(zval *report, const icecore_replaced *counts)
{
    zval explanations;
    const char *name, *name_end;
    char *count_end;
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
    /* The text is `name=count,name=count`. */
    for (name = counts->explanations; (name_end = strchr(name, '=')); name = count_end + (*count_end == ','))
        add_assoc_long_ex(&explanations, name, (size_t)(name_end - name),
                          (zend_long)ZEND_STRTOUL(name_end + 1, &count_end, 10));
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
    replace_settings settings = { NULL, ICE_DEFAULT_DEPTH, 0 };
    icecore_replaced counts;
    pair_list pairs;
    bool is_prepared;
    ZEND_PARSE_PARAMETERS_START(3, 5)
        Z_PARAM_ARRAY_HT_OR_STR(olds, old)
        Z_PARAM_ARRAY_HT_OR_STR_OR_NULL(news, new)
        Z_PARAM_STR(data)
        Z_PARAM_OPTIONAL
        Z_PARAM_ARRAY_HT(options)
        Z_PARAM_ZVAL(report)
    ZEND_PARSE_PARAMETERS_END();
    if (!read_options(&settings, options))
        RETURN_THROWS();
    is_prepared = read_pairs(&pairs, olds, old, news, new) && prepare_replacer(&settings, &pairs);
    pairs_free(&pairs);
    if (!is_prepared || !apply_replacer(data, &counts, return_value))
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
