/* Lets PHP's own reader read texts with `C:` objects. read_by_php.c explains why. */
#ifndef ICE_READ_BY_PHP_H
#define ICE_READ_BY_PHP_H
#include "core/stages.h"

/* In these functions, `function` is the name of the PHP function in messages, and `result` receives
 * the value. They return false if an exception was thrown, or if PHP's message was issued. */

/* Lets PHP's reader read a text after the whole text and its payloads were checked. */
bool ice_read_by_php(zend_string *text, const ice_read_settings *settings, zend_long depth, const char *function,
                     zval *result);
/* Does the same for a text that the engine refused with this error, if only its payloads or links
 * are the cause. Otherwise issues PHP's messages about the error. */
bool ice_read_refused_by_php(zend_string *text, const ice_read_settings *settings, zend_long depth,
                             icecore_error *error, const char *function, zval *result);
/* Reads a payload for a class, while PHP's reader reads the document around it. */
bool ice_read_nested_by_php(zend_string *text, const ice_read_settings *settings, zend_long depth,
                            const char *function, zval *result);

#endif
