/* Reads and writes documents of any format, and answers queries without building anything.
 *
 * Data in PHP's own formats is built from its own tape. The engine first converts data of
 * another language to PHP's text, as `icecore convert -t php` does. This translates names of
 * classes and properties, integers beyond 64 bits, and types that PHP does not have. */
#include "core/documents.h"
#include "core/losses.h"
#include "core/memory.h"
#include "ext/standard/basic_functions.h"

/* Returns true if the values in this format are PHP's own. */
static bool
has_php_values(const icecore_stage *stage)
{
    static const char *const formats[] = { "php", "igbinary", "php-session", "var-export" };
    const char *format = icecore_stage_format(stage);
    size_t i;
    for (i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(format, formats[i]) == 0)
            return true;
    return false;
}

/* Returns the stage with this name. Without a name, detects it from the bytes. Returns NULL if
 * an exception was thrown. The caller frees the stage. */
static icecore_stage *
make_stage(zend_string *format, zend_string *bytes)
{
    icecore_error error;
    icecore_stage *stage;
    if (format)
        stage = icecore_stage_new(ZSTR_VAL(format), ZSTR_LEN(format), &error);
    else
        stage = icecore_detect((const uint8_t *)ZSTR_VAL(bytes), ZSTR_LEN(bytes), &error);
    if (!stage)
        ice_throw_error(error.kind == ICECORE_USAGE ? ice_exception : ice_decode_exception, &error);
    return stage;
}

/* ---- classes ------------------------------------------------------------ */

/* Reads a document within memory_limit, and lists its classes. Returns false and fills
 * `error` if the document can't be read. */
static bool
find_classes(icecore_stage *stage, zend_string *bytes, ice_found_classes *found_classes, icecore_error *error)
{
    for (;;) {
        const uint64_t available = ice_memory_available();
        uint32_t kind;
        icecore_stage_memory(stage, available);
        kind = icecore_classes(stage, (const uint8_t *)ZSTR_VAL(bytes), ZSTR_LEN(bytes), ice_found_classes_add,
                               found_classes, error);
        icecore_stage_memory(stage, UINT64_MAX);
        if (kind == ICECORE_OK || !ice_memory_was_exceeded(error, available))
            return kind == ICECORE_OK;
        /* The document is read again if PHP can free memory, so the classes so far are dropped. */
        ice_found_classes_free(found_classes);
        memset(found_classes, 0, sizeof *found_classes);
        ice_memory_free_or_fail(available, (size_t)available + ZEND_MM_ALIGNMENT);
    }
}

/* Checks the classes in data of another language, because some of them are not in the converted
 * data. Returns false if an exception was thrown. */
static bool
check_other_language(icecore_stage *stage, zend_string *bytes, const ice_class_options *class_options)
{
    ice_found_classes found_classes = { NULL, 0, 0, 0 };
    ice_found_class class_use;
    icecore_error error;
    HashTable *names = zend_new_array(8);
    const char *position = NULL;
    bool is_allowed = false;
    if (!find_classes(stage, bytes, &found_classes, &error))
        ice_throw_error(ice_decode_exception, &error);
    else if (found_classes.failed)
        zend_throw_error(NULL, "Icecore: not enough memory");
    else {
        while (ice_found_classes_next(&found_classes, &position, &class_use)) {
            zval path;
            /* A regular expression is not one of the program's classes. */
            if (class_use.kind.len == 6 && memcmp(class_use.kind.bytes, "regexp", 6) == 0)
                continue;
            ZVAL_STRINGL(&path, class_use.path.bytes, class_use.path.len);
            if (!zend_hash_str_add(names, class_use.name.bytes, class_use.name.len, &path))
                zval_ptr_dtor(&path);
        }
        is_allowed = ice_policy_check_names(class_options, names);
    }
    ice_found_classes_free(&found_classes);
    zend_array_destroy(names);
    return is_allowed;
}

/* Reads a document of any format. The result stays null if an exception was thrown. */
static void
decode(icecore_stage *stage, zend_string *bytes, HashTable *options, const char *function, zval *return_value)
{
    ice_read_settings settings = { .classes = { .allows_all_by_default = false } };
    zend_long depth = ICE_DEFAULT_DEPTH;
    zval result;
    ZVAL_UNDEF(&result);
    settings.is_igbinary = strcmp(icecore_stage_format(stage), "igbinary") == 0;
    settings.uses_set_state = strcmp(icecore_stage_format(stage), "var-export") == 0;
    if (ice_class_options_read(&settings.classes, options, function) &&
        ice_read_max_depth(options, function, &depth)) {
        if (depth != ICE_DEFAULT_DEPTH)
            icecore_stage_limit(stage, ZEND_STRL("depth"), depth ? (uint64_t)depth : UINT64_MAX, NULL);
        if (has_php_values(stage))
            ice_read(stage, bytes, &settings, &result);
        else {
            icecore_stage *php_stage =
                ice_stage(depth == ICE_DEFAULT_DEPTH ? ICE_STAGE_PHP_DEFAULT : ICE_STAGE_PHP, depth);
            zend_string *text = NULL;
            settings.classes.is_other_language = true;
            if (php_stage && check_other_language(stage, bytes, &settings.classes))
                text = ice_convert_stage(stage, bytes, php_stage, false, ice_decode_exception);
            if (text) {
                ice_read(php_stage, text, &settings, &result);
                zend_string_release(text);
            }
        }
    }
    ice_class_options_free(&settings.classes);
    if (!Z_ISUNDEF(result))
        RETVAL_COPY_VALUE(&result);
}

PHP_FUNCTION(Icecore_decode)
{
    zend_string *bytes, *format = NULL;
    HashTable *options = NULL;
    icecore_stage *stage;
    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_STR(bytes)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR_OR_NULL(format)
        Z_PARAM_ARRAY_HT(options)
    ZEND_PARSE_PARAMETERS_END();
    stage = make_stage(format, bytes);
    if (!stage)
        RETURN_THROWS();
    decode(stage, bytes, options, "Icecore\\decode", return_value);
    icecore_stage_free(stage);
}

PHP_FUNCTION(Icecore_var_import)
{
    zend_string *text;
    HashTable *options = NULL;
    icecore_error error;
    icecore_stage *stage;
    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_STR(text)
        Z_PARAM_OPTIONAL
        Z_PARAM_ARRAY_HT(options)
    ZEND_PARSE_PARAMETERS_END();
    stage = icecore_stage_new(ZEND_STRL("var-export"), &error);
    decode(stage, text, options, "Icecore\\var_import", return_value);
    icecore_stage_free(stage);
}

PHP_FUNCTION(Icecore_encode)
{
    zval *value, *losses = NULL;
    zend_string *format, *text;
    icecore_stage *stage;
    ZEND_PARSE_PARAMETERS_START(2, 3)
        Z_PARAM_ZVAL(value)
        Z_PARAM_STR(format)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(losses)
    ZEND_PARSE_PARAMETERS_END();
    stage = make_stage(format, NULL);
    if (!stage)
        RETURN_THROWS();
    text = ice_write_any(value, stage, losses != NULL);
    icecore_stage_free(stage);
    if (!text)
        RETURN_THROWS();
    RETVAL_STR(text);
    if (!ice_losses_fill(losses))
        RETURN_THROWS();
}

PHP_FUNCTION(Icecore_convert)
{
    zend_string *bytes, *from = NULL, *to;
    zend_string *converted;
    zval *losses = NULL;
    icecore_error error;
    ZEND_PARSE_PARAMETERS_START(3, 4)
        Z_PARAM_STR(bytes)
        Z_PARAM_STR_OR_NULL(from)
        Z_PARAM_STR(to)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(losses)
    ZEND_PARSE_PARAMETERS_END();
    converted = ice_convert_spec(bytes, from, to, losses != NULL, &error);
    if (!converted) {
        ice_throw_error(error.kind == ICECORE_UNREPRESENTABLE ? ice_encode_exception
                        : error.kind == ICECORE_USAGE         ? ice_exception
                                                              : ice_decode_exception,
                        &error);
        RETURN_THROWS();
    }
    RETVAL_STR(converted);
    if (!ice_losses_fill(losses))
        RETURN_THROWS();
}

PHP_FUNCTION(Icecore_detect)
{
    zend_string *bytes;
    icecore_stage *stage;
    icecore_error error;
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(bytes)
    ZEND_PARSE_PARAMETERS_END();
    stage = icecore_detect((const uint8_t *)ZSTR_VAL(bytes), ZSTR_LEN(bytes), &error);
    if (!stage)
        RETURN_NULL();
    RETVAL_STRING(icecore_stage_spec(stage));
    icecore_stage_free(stage);
}

/* ---- queries ------------------------------------------------------------ */

PHP_FUNCTION(Icecore_classes)
{
    zend_string *bytes, *format = NULL;
    icecore_stage *stage;
    icecore_error error;
    ice_found_classes found_classes = { NULL, 0, 0, 0 };
    ice_found_class class_use;
    const char *position = NULL;
    bool is_read;
    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_STR(bytes)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR_OR_NULL(format)
    ZEND_PARSE_PARAMETERS_END();
    stage = make_stage(format, bytes);
    if (!stage)
        RETURN_THROWS();
    is_read = find_classes(stage, bytes, &found_classes, &error);
    icecore_stage_free(stage);
    if (!is_read || found_classes.failed) {
        const bool is_out_of_memory = found_classes.failed;
        ice_found_classes_free(&found_classes);
        if (is_out_of_memory)
            zend_throw_error(NULL, "Icecore: not enough memory");
        else
            ice_throw_error(ice_decode_exception, &error);
        RETURN_THROWS();
    }
    array_init(return_value);
    while (ice_found_classes_next(&found_classes, &position, &class_use)) {
        zval entry;
        array_init(&entry);
        add_assoc_stringl(&entry, "class", class_use.name.bytes, class_use.name.len);
        add_assoc_stringl(&entry, "kind", class_use.kind.bytes, class_use.kind.len);
        add_assoc_stringl(&entry, "path", class_use.path.bytes, class_use.path.len);
        add_assoc_long(&entry, "count", (zend_long)class_use.count);
        add_next_index_zval(return_value, &entry);
    }
    ice_found_classes_free(&found_classes);
}

PHP_FUNCTION(Icecore_allow)
{
    zval *names;
    uint32_t count, i;
    ZEND_PARSE_PARAMETERS_START(0, -1)
        Z_PARAM_VARIADIC('*', names, count)
    ZEND_PARSE_PARAMETERS_END();
    for (i = 0; i < count; i++)
        if (Z_TYPE(names[i]) != IS_STRING) {
            zend_argument_type_error(i + 1, "must be of type string, %s given", ice_type_of(&names[i]));
            RETURN_THROWS();
        }
    for (i = 0; i < count; i++)
        if (!ice_policy_allow(Z_STR(names[i])))
            RETURN_THROWS();
}
