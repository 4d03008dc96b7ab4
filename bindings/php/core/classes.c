/* Finds classes by the engine's ids. Each class is looked up as PHP does it, once per request. */
#include "core/icecore_php.h"
#include "ext/standard/basic_functions.h"
#include "ext/standard/php_incomplete_class.h"

ice_class *
ice_class_of(ice_context *ctx, uint32_t id)
{
    ice_class *class;
    const char *text;
    const icecore_name *name;
    if (UNEXPECTED(ctx->class_generation != ctx->view.classes.generation)) {
        ice_classes_drop(ctx);
        ctx->class_generation = ctx->view.classes.generation;
    }
    if (UNEXPECTED(id >= ctx->class_capacity)) {
        /* There must be room for all classes of the view, because the build keeps pointers to
         * classes, and the array must not move until the document is built. */
        const uint32_t capacity = MAX((uint32_t)ctx->view.classes.count + 16, id + 1);
        ctx->classes = ice_host_resize(ctx->classes, capacity * sizeof *ctx->classes);
        memset(ctx->classes + ctx->class_capacity, 0, (capacity - ctx->class_capacity) * sizeof *ctx->classes);
        ctx->class_capacity = capacity;
    }
    class = &ctx->classes[id];
    if (EXPECTED(class->name != NULL))
        return class;
    name = ice_name(&ctx->view.classes, id, &text);
    if (!name)
        ice_host_fail("a class id without a class");
    class->name = zend_string_init_existing_interned(text, name->node.aux, 0);
    return class;
}

void
ice_classes_drop(ice_context *ctx)
{
    uint32_t i;
    for (i = 0; i < ctx->class_capacity; i++) {
        ice_class *class = &ctx->classes[i];
        if (class->name && !CG(unclean_shutdown))
            zend_string_release(class->name);
        pefree(class->properties, 1);
    }
    if (ctx->class_capacity)
        memset(ctx->classes, 0, ctx->class_capacity * sizeof *ctx->classes);
}

/* As in PHP itself, serialize_lock is raised while code of the program runs, because serialize()
 * and unserialize() in this code must not continue the state of an outer call. */

/* Calls the function of unserialize_callback_func, which may declare the class. Returns NULL
 * if it did not, with PHP's warning, or if it threw an exception. */
static zend_class_entry *
find_by_callback(zend_string *name)
{
    zval function, result, argument;
    zend_class_entry *ce;
    ZVAL_STRING(&function, PG(unserialize_callback_func));
    ZVAL_STR(&argument, name);
    ZVAL_UNDEF(&result);
    BG(serialize_lock)++;
    call_user_function(NULL, NULL, &function, &result, 1, &argument);
    BG(serialize_lock)--;
    zval_ptr_dtor(&result);
    if (EG(exception)) {
        zval_ptr_dtor(&function);
        return NULL;
    }
    BG(serialize_lock)++;
    ce = zend_lookup_class(name);
    BG(serialize_lock)--;
    if (!ce)
        php_error_docref(NULL, E_WARNING, "Function %s() hasn't defined the class it was called for",
                         Z_STRVAL(function));
    zval_ptr_dtor(&function);
    return ce;
}

/* Looks up a class by its name. Returns false if the name is invalid or an exception was
 * thrown. If the class does not exist, `ce` stays NULL, and the result is true. PHP passes an invalid
 * name to no autoloader. */
static bool
look_up(ice_class *class, bool allows_invalid_name)
{
    bool is_valid;
    zend_string *lower_name = zend_string_tolower(class->name);
    zend_class_entry *ce = zend_hash_find_ptr(EG(class_table), lower_name);
    if (ce && (ce->ce_flags & ZEND_ACC_LINKED) && !(ce->ce_flags & ZEND_ACC_ANON_CLASS))
        class->ce = ce;
    else if ((is_valid = zend_is_valid_class_name(class->name)) || allows_invalid_name) {
        BG(serialize_lock)++;
        class->ce = zend_lookup_class_ex(class->name, is_valid ? lower_name : NULL, 0);
        BG(serialize_lock)--;
        if (!class->ce && !EG(exception) && PG(unserialize_callback_func) && *PG(unserialize_callback_func))
            class->ce = find_by_callback(class->name);
    } else {
        zend_string_release(lower_name);
        return false;
    }
    zend_string_release(lower_name);
    return !EG(exception);
}

bool
ice_class_find(ice_class *class, bool allows_invalid_name)
{
    if (class->verdict == ICECORE_AS_RECORD) {
        class->build_method = ICE_CLASS_AS_RECORD;
        return true;
    }
    /* PHP's list does not contain the class, so its objects become incomplete. */
    if (class->verdict == ICECORE_REFUSED) {
        class->build_method = ICE_CLASS_BY_TABLE;
        class->ce = NULL;
        class->property_count = 0;
        class->is_ready = class->has_wakeup = false;
        return allows_invalid_name || zend_is_valid_class_name(class->name);
    }
    if (!class->ce && !look_up(class, allows_invalid_name))
        return false;
    if (!class->ce)
        class->build_method = ICE_CLASS_BY_TABLE;
    else {
        class->has_wakeup = zend_hash_exists(&class->ce->function_table, ZSTR_KNOWN(ZEND_STR_WAKEUP)) &&
                            class->ce != php_ce_incomplete_class;
        class->build_method = class->ce->__unserialize   ? ICE_CLASS_BY_UNSERIALIZE
                              : class->ce->create_object ? ICE_CLASS_BY_TABLE
                                                         : ICE_CLASS_BY_SLOTS;
    }
    return true;
}

/* Makes a __PHP_Incomplete_Class with the name of the class. */
static zend_object *
incomplete_object(ice_class *class)
{
    zval object;
    if (object_init_ex(&object, php_ce_incomplete_class) == FAILURE)
        return NULL;
    php_store_class_name(&object, class->name);
    return Z_OBJ(object);
}

zend_object *
ice_class_object(ice_class *class, bool is_php_text)
{
    zend_class_entry *ce = class->ce;
    zval object;
    if (EXPECTED(class->is_ready)) {
        zend_object *made = zend_objects_new(ce);
        object_properties_init(made, ce);
        return made;
    }
    if (!ce)
        return incomplete_object(class);
    if (ce->ce_flags & ZEND_ACC_NOT_SERIALIZABLE) {
        zend_throw_exception_ex(NULL, 0, "Unserialization of '%s' is not allowed", ZSTR_VAL(ce->name));
        return NULL;
    }
    if (is_php_text && ce->serialize && !ce->__unserialize) {
        zend_error(E_WARNING, "Erroneous data format for unserializing '%s'", ZSTR_VAL(ce->name));
        return NULL;
    }
    if (object_init_ex(&object, ce) == FAILURE)
        return NULL;
    class->is_ready = !ce->create_object;
    return Z_OBJ(object);
}

void
ice_written_classes_drop(ice_context *ctx)
{
    while (ctx->written_class_count)
        pefree(ctx->written_classes[--ctx->written_class_count].slots, 1);
    ice_map_clear(&ctx->written_class_indices);
    memset(ctx->written_class_cache, 0, sizeof ctx->written_class_cache);
}
