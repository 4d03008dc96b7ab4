/* Payloads of PHP's own classes: ArrayObject, SplObjectStorage, SplDoublyLinkedList, and those that
 * extend them. */
#ifndef ICE_SPL_PAYLOADS_H
#define ICE_SPL_PAYLOADS_H
#include "core/icecore_php.h"

/* Makes the methods by which these classes read their payloads check them, for
 * icecore.replace=1. */
void ice_spl_payloads_register(void);
/* Reads the payload of one of these classes, and drops the object. Returns false if it is of
 * another class, or if reading it could do more than issue messages or throw PHP's exception. */
bool ice_spl_payloads_try(zend_string *class_name, const char *bytes, size_t len);

#endif
