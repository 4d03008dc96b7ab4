/* Classes by the engine's ids: looked up as PHP does, once per request. */
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
    if (UNEXPECTED(id >= ctx->class_room)) {
        /* All at once: pointers to classes stay valid as long as the view. */
        const uint32_t room = MAX((uint32_t)ctx->view.classes.count + 16, id + 1);
        ctx->classes = ice_host_resize(ctx->classes, room * sizeof *ctx->classes);
        memset(ctx->classes + ctx->class_room, 0, (room - ctx->class_room) * sizeof *ctx->classes);
        ctx->class_room = room;
    }
    class = &ctx->classes[id];
    if (EXPECTED(class->name != NULL))
        return class;
    name = ice_name(&ctx->view.classes, id, &text);
    if (!name)
        ice_host_fail("a class that is not there");
    class->name = zend_string_init_existing_interned(text, name->node.aux, 0);
    return class;
}

void
ice_classes_drop(ice_context *ctx)
{
    uint32_t i;
    for (i = 0; i < ctx->class_room; i++) {
        ice_class *class = &ctx->classes[i];
        if (class->name && !CG(unclean_shutdown))
            zend_string_release(class->name);
        pefree(class->properties, 1);
    }
    if (ctx->class_room)
        memset(ctx->classes, 0, ctx->class_room * sizeof *ctx->classes);
}

/* Calls the function of unserialize_callback_func, which may declare the class. */
static zend_class_entry *
by_callback(zend_string *name)
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

static bool
look_up(ice_class *class)
{
    zend_string *small = zend_string_tolower(class->name);
    zend_class_entry *ce = zend_hash_find_ptr(EG(class_table), small);
    if (ce && (ce->ce_flags & ZEND_ACC_LINKED) && !(ce->ce_flags & ZEND_ACC_ANON_CLASS))
        class->ce = ce;
    else if (zend_is_valid_class_name(class->name)) {
        BG(serialize_lock)++;
        class->ce = zend_lookup_class_ex(class->name, small, 0);
        BG(serialize_lock)--;
        if (!class->ce && !EG(exception) && PG(unserialize_callback_func) && *PG(unserialize_callback_func))
            class->ce = by_callback(class->name);
    } else {
        zend_string_release(small);
        return false;
    }
    zend_string_release(small);
    return !EG(exception);
}

bool
ice_class_find(ice_class *class)
{
    if (class->verdict == ICECORE_AS_RECORD) {
        class->how = ICE_RECORD_OF;
        return true;
    }
    if (class->verdict == ICECORE_REFUSED) {
        class->how = ICE_TABLE;
        class->ce = NULL;
        class->property_count = 0;
        class->is_ready = class->has_wakeup = false;
        return zend_is_valid_class_name(class->name);
    }
    if (!class->ce && !look_up(class))
        return false;
    if (!class->ce)
        class->how = ICE_TABLE;
    else {
        class->has_wakeup = zend_hash_exists(&class->ce->function_table, ZSTR_KNOWN(ZEND_STR_WAKEUP)) &&
                            class->ce != php_ce_incomplete_class;
        class->how = class->ce->__unserialize ? ICE_ARRAY : class->ce->create_object ? ICE_TABLE : ICE_SLOTS;
    }
    return true;
}

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
ice_class_object(ice_class *class, bool is_php)
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
    if (is_php && ce->serialize && !ce->__unserialize) {
        zend_error(E_WARNING, "Erroneous data format for unserializing '%s'", ZSTR_VAL(ce->name));
        return NULL;
    }
    if (object_init_ex(&object, ce) == FAILURE)
        return NULL;
    class->is_ready = !ce->create_object;
    return Z_OBJ(object);
}

void
ice_written_drop(ice_context *ctx)
{
    while (ctx->written_count)
        pefree(ctx->written[--ctx->written_count].slots, 1);
    ice_map_clear(&ctx->written_places);
    memset(ctx->near_written, 0, sizeof ctx->near_written);
}
