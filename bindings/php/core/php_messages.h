/* PHP's messages about malformed text. */
#ifndef ICE_PHP_MESSAGES_H
#define ICE_PHP_MESSAGES_H
#include "core/icecore_php.h"

/* Issues PHP's message about malformed text. */
void ice_report_offset(zend_long offset, size_t len);
/* Issues the messages that PHP has for an error of the engine. `depth` is the limit that the
 * message about the depth names. */
void ice_report_error(const icecore_error *error, zend_string *text, zend_long depth);

#endif
