/* Calls the hooks of classes. hooks.h declares the functions. */
#include "core/hooks.h"
#include "ext/standard/basic_functions.h"

/* As in PHP itself, serialize_lock is raised while a hook runs, because serialize() and
 * unserialize() in the hook must not continue the state of an outer call. */

/* Each of the following functions calls the method that it names, and returns false if an exception
 * was thrown. */

static bool
call_wakeup(zend_object *object)
{
    zend_function *method = zend_hash_find_ptr(&object->ce->function_table, ZSTR_KNOWN(ZEND_STR_WAKEUP));
    zval result;
    ZVAL_UNDEF(&result);
    BG(serialize_lock)++;
    zend_call_known_instance_method_with_0_params(method, object, &result);
    BG(serialize_lock)--;
    zval_ptr_dtor(&result);
    return !EG(exception);
}

static bool
call_unserialize(zend_object *object, zval *data)
{
    BG(serialize_lock)++;
    zend_call_known_instance_method_with_1_params(object->ce->__unserialize, object, NULL, data);
    BG(serialize_lock)--;
    return !EG(exception);
}

/* Does what PHP does for `\Foo::__set_state(array(…))` outside of any class. */
static bool
call_set_state(ice_delayed_action *delayed, zval *data)
{
    zend_class_entry *ce = delayed->ce;
    zend_function *method = zend_hash_str_find_ptr(&ce->function_table, ZEND_STRL("__set_state"));
    zval result;
    if (!method)
        zend_throw_error(NULL, "Call to undefined method %s::__set_state()", ZSTR_VAL(ce->name));
    else if (!(method->common.fn_flags & ZEND_ACC_PUBLIC))
        zend_throw_error(NULL, "Call to %s method %s::__set_state() from global scope",
                         zend_visibility_string(method->common.fn_flags), ZSTR_VAL(ce->name));
    else if (method->common.fn_flags & ZEND_ACC_ABSTRACT)
        zend_throw_error(NULL, "Cannot call abstract method %s::__set_state()", ZSTR_VAL(method->common.scope->name));
    if (EG(exception))
        return false;
    ZVAL_UNDEF(&result);
    zend_call_known_function(method, NULL, ce, &result, 1, data, NULL);
    if (EG(exception)) {
        zval_ptr_dtor(&result);
        return false;
    }
    /* The place is in the value that is being built. No code of the program can change it yet. */
    ZVAL_COPY_VALUE(delayed->dest, &result);
    return true;
}

static bool
run_action(ice_delayed_action *delayed)
{
    switch (delayed->action) {
    case ICE_DELAYED_WAKEUP: return call_wakeup(Z_OBJ(delayed->object));
    case ICE_DELAYED_UNSERIALIZE: return call_unserialize(Z_OBJ(delayed->object), &delayed->data);
    case ICE_DELAYED_SET_STATE: return call_set_state(delayed, &delayed->data);
    default: return true;
    }
}

void
ice_hooks_run(ice_context *ctx)
{
    bool failed = false;
    uint32_t i;
    for (i = 0; i < ctx->delayed_action_count; i++) {
        /* The copy owns the values, so they live until the hook returns. The list has no values
         * any more, so that no other code frees them a second time. */
        ice_delayed_action delayed = ctx->delayed_actions[i];
        ZVAL_UNDEF(&ctx->delayed_actions[i].object);
        ZVAL_UNDEF(&ctx->delayed_actions[i].data);
        if (!failed)
            failed = !run_action(&delayed);
        if (failed && (delayed.action == ICE_DELAYED_WAKEUP || delayed.action == ICE_DELAYED_UNSERIALIZE))
            GC_ADD_FLAGS(Z_OBJ(delayed.object), IS_OBJ_DESTRUCTOR_CALLED);
        zval_ptr_dtor(&delayed.object);
        zval_ptr_dtor(&delayed.data);
    }
    ctx->delayed_action_count = 0;
}

bool
ice_hook_serialize(zend_object *object, zval *result)
{
    ZVAL_UNDEF(result);
    BG(serialize_lock)++;
    zend_call_known_instance_method_with_0_params(object->ce->__serialize, object, result);
    BG(serialize_lock)--;
    if (EG(exception)) {
        zval_ptr_dtor(result);
        return false;
    }
    if (Z_TYPE_P(result) != IS_ARRAY) {
        zval_ptr_dtor(result);
        zend_type_error("%s::__serialize() must return an array", ZSTR_VAL(object->ce->name));
        return false;
    }
    return true;
}

bool
ice_hook_call_sleep(zend_object *object, zend_function *method, zval *result)
{
    ZVAL_UNDEF(result);
    BG(serialize_lock)++;
    zend_call_known_instance_method_with_0_params(method, object, result);
    BG(serialize_lock)--;
    if (!EG(exception) && !Z_ISUNDEF_P(result))
        return true;
    zval_ptr_dtor(result);
    return false;
}

HashTable *
ice_hook_sleep(zend_object *object, zend_function *method)
{
    zval result;
    if (!ice_hook_call_sleep(object, method, &result))
        return NULL;
    if (Z_TYPE(result) != IS_ARRAY) {
        zval_ptr_dtor(&result);
        php_error_docref(NULL, E_WARNING,
                         "%s::__sleep() should return an array only containing the names of instance-variables to "
                         "serialize",
                         ZSTR_VAL(object->ce->name));
        return NULL;
    }
    return Z_ARRVAL(result);
}
