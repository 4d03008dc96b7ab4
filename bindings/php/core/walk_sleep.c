/* The properties that __sleep names. A name may be that of a public, a private or a
 * protected property, in this order. */
#include "core/walk.h"

/* Adds a name and a value; `name` is NULL if the name is not a string. */
static void
add_pair(HashTable *to, zend_string *name, zval *value)
{
    zval key;
    if (name)
        ZVAL_STR_COPY(&key, name);
    else
        ZVAL_NULL(&key);
    zend_hash_next_index_insert(to, &key);
    Z_TRY_ADDREF_P(value);
    zend_hash_next_index_insert(to, value);
}

/* Adds the property with this name in the table. False: there is none. */
static bool
add(HashTable *to, HashTable *properties, zend_string *name, zend_string *said, zend_object *object, bool in_pairs)
{
    zval *value = zend_hash_find(properties, name);
    if (!value)
        return false;
    if (Z_TYPE_P(value) == IS_INDIRECT) {
        value = Z_INDIRECT_P(value);
        /* A typed one without a value is skipped; an untyped one counts as missing. */
        if (Z_TYPE_P(value) == IS_UNDEF)
            return zend_get_typed_property_info_for_slot(object, value) != NULL;
    }
    if (in_pairs)
        add_pair(to, name, value);
    else if (zend_hash_add(to, name, value))
        Z_TRY_ADDREF_P(value);
    else
        php_error_docref(NULL, PHP_VERSION_ID < 80300 ? E_NOTICE : E_WARNING, "\"%s\" is returned from __sleep() multiple times", ZSTR_VAL(said));
    return true;
}

static bool
add_mangled(HashTable *to, HashTable *properties, const char *home, size_t home_len, zend_string *name,
            zend_object *object, bool in_pairs)
{
    zend_string *mangled = zend_mangle_property_name(home, home_len, ZSTR_VAL(name), ZSTR_LEN(name), 0);
    const bool is_there = add(to, properties, mangled, name, object, in_pairs);
    zend_string_release(mangled);
    return is_there || EG(exception);
}

static void
add_named(HashTable *to, HashTable *properties, zend_string *name, zend_object *object, uint8_t purpose)
{
    const bool is_igbinary = purpose == ICE_FOR_IGBINARY;
    if (add(to, properties, name, name, object, is_igbinary) || EG(exception) ||
        add_mangled(to, properties, ZSTR_VAL(object->ce->name), ZSTR_LEN(object->ce->name), name, object, is_igbinary) ||
        add_mangled(to, properties, "*", 1, name, object, is_igbinary))
        return;
    php_error_docref(NULL, is_igbinary ? E_NOTICE : E_WARNING,
                     "\"%s\" returned as member variable from __sleep() but does not exist", ZSTR_VAL(name));
    /* igbinary writes it anyway. */
    if (is_igbinary && !EG(exception))
        add_pair(to, name, &EG(uninitialized_zval));
}

HashTable *
ice_walk_sleep(zend_object *object, HashTable *names, uint8_t purpose)
{
    zval value, *name;
    HashTable *properties, *to = zend_new_array(zend_hash_num_elements(names));
    ZVAL_OBJ(&value, object);
    properties = zend_get_properties_for(&value, ZEND_PROP_PURPOSE_SERIALIZE);
    if (purpose != ICE_FOR_IGBINARY)
        zend_hash_real_init_mixed(to);
    ZEND_HASH_FOREACH_VAL_IND(names, name) {
        zend_string *text, *temporary;
        ZVAL_DEREF(name);
        if (Z_TYPE_P(name) != IS_STRING && purpose == ICE_FOR_IGBINARY) {
            add_pair(to, NULL, &EG(uninitialized_zval));
            continue;
        }
        if (Z_TYPE_P(name) != IS_STRING)
            php_error_docref(NULL, E_WARNING,
                             "%s::__sleep() should return an array only containing the names of instance-variables to "
                             "serialize",
                             ZSTR_VAL(object->ce->name));
        text = zval_get_tmp_string(name, &temporary);
        add_named(to, properties, text, object, purpose);
        zend_tmp_string_release(temporary);
        if (EG(exception))
            break;
    } ZEND_HASH_FOREACH_END();
    zend_release_properties(properties);
    if (!EG(exception))
        return to;
    zend_array_release(to);
    return NULL;
}
