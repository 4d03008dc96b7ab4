/* Lets PHP's own reader read a session with `C:` objects. A link names its target by the number of a
 * value, and PHP's reader continues to count the values in the payloads, and finds the values of
 * other variables there. It also cuts integers beyond 64 bits, with its warnings.
 *
 * The whole text is checked before. */
#include "core/session_by_php.h"
#include "core/payloads.h"
#include "core/scan.h"
#include "ext/standard/basic_functions.h"
#include "ext/standard/php_var.h"

/* Reads the variables in the text, as PHP's handler does. PHP keeps each value in a place that does
 * not move, until all are read. Returns false if PHP's reader refuses one. */
static bool
read_variables(zend_string *text, php_unserialize_data_t *data, HashTable *places)
{
    const unsigned char *cursor = (const unsigned char *)ZSTR_VAL(text), *end = cursor + ZSTR_LEN(text);
    while (cursor < end) {
        const unsigned char *bar = memchr(cursor, '|', end - cursor), *value;
        zval *place, pointer;
        if (!bar)
            return false;
        value = bar + 1;
        place = var_tmp_var(data);
        if (!php_var_unserialize(place, &value, end, data))
            return false;
        ZVAL_PTR(&pointer, place);
        zend_hash_str_update(places, (const char *)cursor, bar - cursor, &pointer);
        cursor = value;
    }
    return true;
}

/* Moves the values from their places into an array. */
static void
move_values(HashTable *places, zval *variables)
{
    zend_string *name;
    zval *place;
    array_init_size(variables, zend_hash_num_elements(places));
    ZEND_HASH_FOREACH_STR_KEY_PTR(places, name, place) {
        zval value;
        ZVAL_COPY_VALUE(&value, place);
        ZVAL_UNDEF(place);
        /* As in PHP, a name remains a string even if it is a decimal number. */
        zend_hash_update(Z_ARRVAL_P(variables), name, &value);
    } ZEND_HASH_FOREACH_END();
}

/* Lets PHP's reader read the text. It builds only the classes in `allowed_names`, or any class if
 * that is NULL. If PHP's reader is already reading a document around this call, the list of that
 * document holds. */
static bool
read_with_list(zend_string *text, HashTable *allowed_names, zval *variables)
{
    HashTable *outer_names, *places = zend_new_array(8);
    php_unserialize_data_t data;
    bool is_read;
    PHP_VAR_UNSERIALIZE_INIT(data);
    outer_names = php_var_unserialize_get_allowed_classes(data);
    if (!outer_names)
        php_var_unserialize_set_allowed_classes(data, allowed_names);
    is_read = read_variables(text, &data, places);
    if (is_read)
        move_values(places, variables);
    zend_array_destroy(places);
    /* Hooks run here. They get the list of the document around this call, or none. */
    php_var_unserialize_set_allowed_classes(data, outer_names);
    PHP_VAR_UNSERIALIZE_DESTROY(data);
    return is_read;
}

/* Does the same, and remembers the payloads for calls of Icecore\unserialize in their classes, which
 * can't check a payload with links to values outside of it. */
static bool
read_with_payloads(zend_string *text, HashTable *allowed_names, zval *variables)
{
    HashTable *outer_payloads = ICE_G(checked_payloads), *payloads = zend_new_array(8);
    bool is_read;
    ice_scan_session_payloads(text, payloads);
    ICE_G(checked_payloads) = payloads;
    is_read = read_with_list(text, allowed_names, variables);
    ICE_G(checked_payloads) = outer_payloads;
    zend_array_destroy(payloads);
    return is_read;
}

/* Returns the names as PHP's list of allowed classes has them, in lower case. */
static HashTable *
list_for_php(HashTable *names)
{
    HashTable *list = zend_new_array(zend_hash_num_elements(names));
    zend_string *name;
    ZEND_HASH_FOREACH_STR_KEY(names, name) {
        zend_string *lower_name = zend_string_tolower(name);
        zend_hash_add_empty_element(list, lower_name);
        zend_string_release(lower_name);
    } ZEND_HASH_FOREACH_END();
    return list;
}

bool
ice_session_read_by_php(zend_string *text, const ice_class_options *class_options, zval *variables)
{
    HashTable *names = zend_new_array(8), *list = NULL;
    bool is_read = false;
    if (ice_payloads_check_session(text, class_options, names) == ICE_PAYLOADS_ALLOWED) {
        /* If all classes are allowed, a class may also decode its payload and find other names in it. */
        if (!ice_policy_allows_any(class_options))
            list = list_for_php(names);
        is_read = read_with_payloads(text, list, variables);
    }
    if (list)
        zend_array_destroy(list);
    zend_array_destroy(names);
    return is_read;
}
