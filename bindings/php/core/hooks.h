/* Calls of the methods of a class that freeze and thaw its objects. */
#ifndef ICE_HOOKS_H
#define ICE_HOOKS_H
#include "core/icecore_php.h"

/* Runs the delayed hooks in their order. After an exception neither the hooks nor the
 * destructors of the remaining objects are called. */
void ice_hooks_run(ice_context *ctx);
/* Calls __serialize. False: an exception was thrown. */
bool ice_hook_serialize(zend_object *object, zval *result);
/* Calls __sleep; NULL: it returned no array, and a warning was issued, or an exception
 * was thrown. */
HashTable *ice_hook_sleep(zend_object *object, zend_function *method);

#endif
