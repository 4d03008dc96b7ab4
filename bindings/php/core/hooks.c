#include "core/hooks.h"
#include "ext/standard/basic_functions.h"

/* While a hook runs, PHP's own functions must not take part in a call of PHP's that is
 * under way, as PHP itself sees to. */

static bool
wake_up(zend_object *object)
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
unserialize(zend_object *object, zval *data)
{
    BG(serialize_lock)++;
    zend_call_known_instance_method_with_1_params(object->ce->__unserialize, object, NULL, data);
    BG(serialize_lock)--;
    return !EG(exception);
}

void
ice_hooks_run(ice_context *ctx)
{
    bool failed = false;
    uint32_t i;
    for (i = 0; i < ctx->delayed_count; i++) {
        /* What a hook is given and what it looks at stays, whatever it does. */
        zval object, data;
        ZVAL_COPY_VALUE(&object, &ctx->delayed[i].object);
        ZVAL_COPY_VALUE(&data, &ctx->delayed[i].data);
        ZVAL_UNDEF(&ctx->delayed[i].object);
        ZVAL_UNDEF(&ctx->delayed[i].data);
        if (ctx->delayed[i].is_hook) {
            if (!failed)
                failed = !(Z_ISUNDEF(data) ? wake_up(Z_OBJ(object)) : unserialize(Z_OBJ(object), &data));
            if (failed)
                GC_ADD_FLAGS(Z_OBJ(object), IS_OBJ_DESTRUCTOR_CALLED);
        }
        zval_ptr_dtor(&object);
        zval_ptr_dtor(&data);
    }
    ctx->delayed_count = 0;
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

HashTable *
ice_hook_sleep(zend_object *object, zend_function *method)
{
    zval result;
    ZVAL_UNDEF(&result);
    BG(serialize_lock)++;
    zend_call_known_instance_method_with_0_params(method, object, &result);
    BG(serialize_lock)--;
    if (EG(exception) || Z_ISUNDEF(result)) {
        zval_ptr_dtor(&result);
        return NULL;
    }
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
