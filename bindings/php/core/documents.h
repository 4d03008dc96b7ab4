/* One document, read or written by a stage. */
#ifndef ICE_DOCUMENTS_H
#define ICE_DOCUMENTS_H
#include "core/stages.h"

/* Reads PHP's text as unserialize() does. False: an exception was thrown, or PHP's
 * message was issued. */
bool ice_unserialize(zend_string *text, ice_read_settings *settings, zend_long depth, const char *function, zval *result);
/* Reads and builds a document. False: an exception was thrown. */
bool ice_read(icecore_stage *stage, zend_string *bytes, const ice_read_settings *settings, zval *result);
/* Like ice_read, but malformed data is a warning, and the result null. */
void ice_read_warning(int which, zend_string *bytes, const ice_read_settings *settings, zend_long depth, zval *result);
/* Reads the variables of a session into an array. False: the text is malformed, or an
 * exception was thrown. */
bool ice_read_session(zend_string *text, ice_read_settings *settings, zval *variables);
/* Writes the text of a session; `by_php` writes it if only PHP can. */
zend_string *ice_write_session(zval *variables, zend_string *(*by_php)(HashTable *variables));
/* Returns the bytes of a value; NULL: an exception was thrown. `purpose` is one of
 * ICE_FOR_. */
zend_string *ice_write(zval *value, int which, uint8_t purpose);
/* The same in any format. */
zend_string *ice_write_any(zval *value, icecore_stage *stage);
/* Converts bytes to another format. NULL: an exception of class `thrown` was thrown. */
zend_string *ice_converted(icecore_stage *from, zend_string *bytes, const icecore_stage *to, zend_class_entry *thrown);
/* The same with stages as text; `from` may be NULL. NULL: the reason is in `error`. */
zend_string *ice_convert(zend_string *bytes, zend_string *from, zend_string *to, icecore_error *error);

#endif
