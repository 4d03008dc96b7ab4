/* Finds the properties that __sleep names. PHP searches for each name first among the public
 * properties, then among the private ones, then among the protected ones.
 *
 * `in_pairs` is true for igbinary. The result is then a list in which names and values alternate,
 * because igbinary writes a name as often as __sleep returns it. */
#include "core/walk.h"

/* Appends a name and a value. `name` is NULL if __sleep returned no string. */
static void
add_pair(HashTable *result, zend_string *name, zval *value)
{
    zval key;
    if (name)
        ZVAL_STR_COPY(&key, name);
    else
        ZVAL_NULL(&key);
    zend_hash_next_index_insert(result, &key);
    Z_TRY_ADDREF_P(value);
    zend_hash_next_index_insert(result, value);
}

/* Adds the property with this mangled name. Returns false if there is none. `returned_name` is the
 * name that __sleep returned, for a warning. */
static bool
add_property(HashTable *result, HashTable *properties, zend_string *name, zend_string *returned_name,
             zend_object *object, bool in_pairs)
{
    zval *value = zend_hash_find(properties, name);
    if (!value)
        return false;
    if (Z_TYPE_P(value) == IS_INDIRECT) {
        value = Z_INDIRECT_P(value);
        /* A typed property without a value is skipped. An untyped one counts as missing. */
        if (Z_TYPE_P(value) == IS_UNDEF)
            return zend_get_typed_property_info_for_slot(object, value) != NULL;
    }
    if (in_pairs)
        add_pair(result, name, value);
    else if (zend_hash_add(result, name, value))
        Z_TRY_ADDREF_P(value);
    else
        php_error_docref(NULL, PHP_VERSION_ID < 80300 ? E_NOTICE : E_WARNING,
                         "\"%s\" is returned from __sleep() multiple times", ZSTR_VAL(returned_name));
    return true;
}

/* Adds the private property of a class, or the protected one if `class_name` is "*". Returns true
 * if there is one or an exception was thrown. */
static bool
add_mangled(HashTable *result, HashTable *properties, const char *class_name, size_t class_name_len,
            zend_string *name, zend_object *object, bool in_pairs)
{
    zend_string *mangled = zend_mangle_property_name(class_name, class_name_len, ZSTR_VAL(name), ZSTR_LEN(name), 0);
    const bool is_found = add_property(result, properties, mangled, name, object, in_pairs);
    zend_string_release(mangled);
    return is_found || EG(exception);
}

/* Adds the property with a name that __sleep returned. Warns if there is none. */
static void
add_property_by_name(HashTable *result, HashTable *properties, zend_string *name, zend_object *object,
                     bool in_pairs)
{
    const zend_string *class_name = object->ce->name;
    if (add_property(result, properties, name, name, object, in_pairs) || EG(exception) ||
        add_mangled(result, properties, ZSTR_VAL(class_name), ZSTR_LEN(class_name), name, object, in_pairs) ||
        add_mangled(result, properties, "*", 1, name, object, in_pairs))
        return;
    php_error_docref(NULL, in_pairs ? E_NOTICE : E_WARNING,
                     "\"%s\" returned as member variable from __sleep() but does not exist", ZSTR_VAL(name));
    /* igbinary writes the name anyway. */
    if (in_pairs && !EG(exception))
        add_pair(result, name, &EG(uninitialized_zval));
}

HashTable *
ice_walk_sleep(zend_object *object, HashTable *names, uint8_t purpose)
{
    const bool in_pairs = purpose == ICE_FOR_IGBINARY;
    zval value, *name;
    HashTable *properties, *result = zend_new_array(zend_hash_num_elements(names));
    ZVAL_OBJ(&value, object);
    properties = zend_get_properties_for(&value, ZEND_PROP_PURPOSE_SERIALIZE);
    if (!in_pairs)
        zend_hash_real_init_mixed(result);
    ZEND_HASH_FOREACH_VAL_IND(names, name) {
        zend_string *text, *temporary;
        ZVAL_DEREF(name);
        if (Z_TYPE_P(name) != IS_STRING && in_pairs) {
            add_pair(result, NULL, &EG(uninitialized_zval));
            continue;
        }
        if (Z_TYPE_P(name) != IS_STRING)
            php_error_docref(NULL, E_WARNING,
                             "%s::__sleep() should return an array only containing the names of "
                             "instance-variables to serialize",
                             ZSTR_VAL(object->ce->name));
        text = zval_get_tmp_string(name, &temporary);
        add_property_by_name(result, properties, text, object, in_pairs);
        zend_tmp_string_release(temporary);
        if (EG(exception))
            break;
    } ZEND_HASH_FOREACH_END();
    zend_release_properties(properties);
    if (!EG(exception))
        return result;
    zend_array_release(result);
    return NULL;
}
