/* Functions that read or write one document by a stage. */
#ifndef ICE_DOCUMENTS_H
#define ICE_DOCUMENTS_H
#include "core/stages.h"

/* In these functions, `function` is the name of the PHP function in messages, and `result` receives
 * the value. Functions that write return NULL if an exception was thrown. */

/* Reads PHP's text as unserialize() does. Returns false if an exception was thrown, or if PHP's
 * message was issued. */
bool ice_unserialize(zend_string *text, ice_read_settings *settings, zend_long depth, const char *function,
                     zval *result);
/* Reads a document. Returns false if an exception was thrown. */
bool ice_read(icecore_stage *stage, zend_string *bytes, const ice_read_settings *settings, zval *result);
/* Reads a document of igbinary. If it is malformed, issues igbinary's warning. `result` is unchanged
 * if no value was built. */
void ice_read_igbinary(zend_string *bytes, const ice_read_settings *settings, zend_long depth, zval *result);
/* Reads the variables of a session into an array. Returns false if the text is malformed, or if
 * an exception was thrown. */
bool ice_read_session(zend_string *text, ice_read_settings *settings, zval *variables);
/* Writes the text of a session. Calls `php_writer`, which lets PHP write it, if only PHP can. */
zend_string *ice_write_session(zval *variables, zend_string *(*php_writer)(HashTable *variables));
/* Writes a value by the stage with this id. `purpose` is one of ICE_FOR_. */
zend_string *ice_write(zval *value, int stage_id, uint8_t purpose);
/* These functions store what the format can't express for ice_losses_fill, if `keeps_losses` is
 * true. */

/* Writes a value by any stage. */
zend_string *ice_write_any(zval *value, icecore_stage *stage, bool keeps_losses);
/* Converts bytes to another format. Errors are exceptions of the class `thrown`. */
zend_string *ice_convert_stage(icecore_stage *from, zend_string *bytes, const icecore_stage *to, bool keeps_losses,
                               zend_class_entry *thrown);
/* Converts bytes between stages that are given as text. `from` may be NULL: then the format is
 * detected. Returns NULL with an error, and throws nothing. */
zend_string *ice_convert_spec(zend_string *bytes, zend_string *from, zend_string *to, bool keeps_losses,
                              icecore_error *error);

#endif
