/* Calls of hooks: the methods of a class that serialize and unserialize its objects. */
#ifndef ICE_HOOKS_H
#define ICE_HOOKS_H
#include "core/icecore_php.h"

/* Runs the delayed actions of the build in their order. After an exception it only frees the
 * values of the remaining ones, and the destructors of their objects are not called. */
void ice_hooks_run(ice_context *ctx);
/* Calls __serialize. Returns false if an exception was thrown. */
bool ice_hook_serialize(zend_object *object, zval *result);
/* Calls __sleep. Returns false if an exception was thrown. */
bool ice_hook_call_sleep(zend_object *object, zend_function *method, zval *result);
/* Calls __sleep and returns the array of names. Returns NULL if an exception was thrown, or if
 * the method returned no array; then a warning was issued. */
HashTable *ice_hook_sleep(zend_object *object, zend_function *method);

#endif
