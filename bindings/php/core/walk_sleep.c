/* Finds the properties that __sleep names. PHP searches for each name first among the public
 * properties, then among the private ones, then among the protected ones. */
#include "core/walk.h"

/* ---- PHP's text --------------------------------------------------------- */

/* Adds the property with this mangled name. Returns false if there is none. `returned_name` is the
 * name that __sleep returned, for a warning. */
static bool
add_property(HashTable *result, HashTable *properties, zend_string *name, zend_string *returned_name,
             zend_object *object)
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
    if (zend_hash_add(result, name, value))
        Z_TRY_ADDREF_P(value);
    else
        php_error_docref(NULL, PHP_VERSION_ID < 80300 ? E_NOTICE : E_WARNING,
                         "\"%s\" is returned from __sleep() multiple times", ZSTR_VAL(returned_name));
    return true;
}

/* Returns the name of a private property of a class, or of a protected one if `class_name` is "*". */
static zend_string *
mangle(const char *class_name, size_t class_name_len, zend_string *name)
{
    return zend_mangle_property_name(class_name, class_name_len, ZSTR_VAL(name), ZSTR_LEN(name), 0);
}

/* Adds the private property of a class, or the protected one if `class_name` is "*". Returns true
 * if there is one or an exception was thrown. */
static bool
add_mangled(HashTable *result, HashTable *properties, const char *class_name, size_t class_name_len,
            zend_string *name, zend_object *object)
{
    zend_string *mangled = mangle(class_name, class_name_len, name);
    const bool is_found = add_property(result, properties, mangled, name, object);
    zend_string_release(mangled);
    return is_found || EG(exception);
}

/* Adds the property with a name that __sleep returned. Warns if there is none. */
static void
add_property_by_name(HashTable *result, HashTable *properties, zend_string *name, zend_object *object)
{
    const zend_string *class_name = object->ce->name;
    if (add_property(result, properties, name, name, object) || EG(exception) ||
        add_mangled(result, properties, ZSTR_VAL(class_name), ZSTR_LEN(class_name), name, object) ||
        add_mangled(result, properties, "*", 1, name, object))
        return;
    php_error_docref(NULL, E_WARNING, "\"%s\" returned as member variable from __sleep() but does not exist",
                     ZSTR_VAL(name));
}

HashTable *
ice_walk_sleep(zend_object *object, HashTable *names)
{
    zval value, *name;
    HashTable *properties, *result = zend_new_array(zend_hash_num_elements(names));
    ZVAL_OBJ(&value, object);
    properties = zend_get_properties_for(&value, ZEND_PROP_PURPOSE_SERIALIZE);
    zend_hash_real_init_mixed(result);
    ZEND_HASH_FOREACH_VAL_IND(names, name) {
        zend_string *text, *temporary;
        ZVAL_DEREF(name);
        if (Z_TYPE_P(name) != IS_STRING)
            php_error_docref(NULL, E_WARNING,
                             "%s::__sleep() should return an array only containing the names of "
                             "instance-variables to serialize",
                             ZSTR_VAL(object->ce->name));
        text = zval_get_tmp_string(name, &temporary);
        add_property_by_name(result, properties, text, object);
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

/* ---- igbinary ----------------------------------------------------------- */

bool
ice_walk_warn_no_names(void)
{
    php_error_docref(NULL, E_NOTICE,
                     "__sleep should return an array only containing the names of instance-variables to serialize");
    return !EG(exception);
}

/* Returns the property with the name, or NULL. `written_name` receives the name under which it was
 * found, with a reference; without a property, the name itself. */
static zval *
find_property(const zend_object *object, HashTable *properties, zend_string *name, zend_string **written_name)
{
    const zend_string *class_name = object->ce->name;
    zval *value = zend_hash_find(properties, name);
    *written_name = zend_string_copy(name);
    if (EXPECTED(value))
        return value;
    zend_string_release(*written_name);
    *written_name = mangle(ZSTR_VAL(class_name), ZSTR_LEN(class_name), name);
    if ((value = zend_hash_find(properties, *written_name)))
        return value;
    zend_string_release(*written_name);
    *written_name = mangle("*", 1, name);
    if ((value = zend_hash_find(properties, *written_name)))
        return value;
    zend_string_release(*written_name);
    *written_name = zend_string_copy(name);
    return NULL;
}

zval *
ice_walk_named_property(zend_object *object, HashTable *properties, zend_string *name, zend_string **written_name)
{
    zval *value = find_property(object, properties, name, written_name);
    const bool is_slot = value && Z_TYPE_P(value) == IS_INDIRECT;
    if (is_slot)
        value = Z_INDIRECT_P(value);
    if (EXPECTED(value && Z_TYPE_P(value) != IS_UNDEF))
        return value;
    if (is_slot && zend_get_typed_property_info_for_slot(object, value))
        zend_throw_error(NULL, "Typed property %s::$%s must not be accessed before initialization (in __sleep)",
                         ZSTR_VAL(object->ce->name), ZSTR_VAL(name));
    else
        php_error_docref(NULL, E_NOTICE, "\"%s\" returned as member variable from __sleep() but does not exist",
                         ZSTR_VAL(name));
    if (UNEXPECTED(EG(exception))) {
        zend_string_release(*written_name);
        return NULL;
    }
    /* igbinary writes the name anyway, with null. */
    return &EG(uninitialized_zval);
}
