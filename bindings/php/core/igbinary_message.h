/* igbinary's messages about malformed data. */
#ifndef ICE_IGBINARY_MESSAGE_H
#define ICE_IGBINARY_MESSAGE_H
#include "core/icecore_php.h"

/* Returns the message that igbinary 3.2.13 has for malformed data, or NULL if igbinary finds no
 * fault in its structure. No class is loaded. */
zend_string *ice_igbinary_message(zend_string *bytes);

#endif
