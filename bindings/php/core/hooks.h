/* Calls of the methods that a class has for being frozen and thawed. */
#ifndef ICE_HOOKS_H
#define ICE_HOOKS_H
#include "core/icecore_php.h"

/* Runs what the build put off, in its order. After an exception the objects that are left
 * are not called, nor are their destructors. */
void ice_hooks_run(ice_context *ctx);
/* __serialize. False: an exception was thrown. */
bool ice_hook_serialize(zend_object *object, zval *result);
/* __sleep; NULL: it returned no array, which was warned of, or an exception was thrown. */
HashTable *ice_hook_sleep(zend_object *object, zend_function *method);

#endif
