/* Lets PHP's own reader read a session. */
#ifndef ICE_SESSION_BY_PHP_H
#define ICE_SESSION_BY_PHP_H
#include "core/icecore_php.h"

/* Checks the text of a session and its classes, and lets PHP's own reader read the variables into
 * an array. Returns false if the text is malformed, or if an exception was thrown. */
bool ice_session_read_by_php(zend_string *text, const ice_class_options *class_options, zval *variables);

#endif
