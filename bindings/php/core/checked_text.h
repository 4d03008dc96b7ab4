/* Texts that PHP's own reader may receive while it reads the document around them. */
#ifndef ICE_CHECKED_TEXT_H
#define ICE_CHECKED_TEXT_H
#include "core/stages.h"

/* Returns the depth for texts that PHP's reader reads inside of the document that it is reading,
 * as a parameter of ice_stage. The levels around them count. */
zend_long ice_checked_depth_left(void);
/* Reads the value at the start of `bytes`, and checks its classes. Links may lead to values
 * outside of it. `names` receives the names of the classes that may be built. `checked_len`
 * receives the number of bytes that PHP's reader may look at: the bytes of the value, or those up
 * to the place where the text is malformed. Then `is_whole` receives false. Returns false if an
 * exception was thrown. */
bool ice_checked_value(const char *bytes, size_t len, const ice_class_options *class_options, zend_long depth,
                       HashTable *names, size_t *checked_len, bool *is_whole);
/* Returns the text with other bytes from `checked_len` on. PHP's reader finds it malformed at the
 * same place as before. */
zend_string *ice_checked_prefix(zend_string *text, size_t checked_len);

#endif
