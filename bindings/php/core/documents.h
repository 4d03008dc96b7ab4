/* One document, read or written by a stage. */
#ifndef ICE_DOCUMENTS_H
#define ICE_DOCUMENTS_H
#include "core/icecore_php.h"

/* The stages that this module needs itself. */
enum {
    ICE_PHP,
    ICE_PHP_LENIENT,
    ICE_IGBINARY,
    ICE_VAR_EXPORT,
    ICE_SESSION,
    /* Writing has no limit of depth, as PHP has none. */
    ICE_PHP_WRITE,
    ICE_IGBINARY_WRITE,
    ICE_VAR_EXPORT_WRITE,
    ICE_SESSION_WRITE,
    /* As many levels as the engine takes of any format. */
    ICE_PHP_USUAL,
    ICE_IGBINARY_USUAL
};
#define ICE_USUAL_DEPTH (-1)

/* A stage that reads so many levels; 0: any number. NULL: an exception was thrown. */
icecore_stage *ice_stage(int which, zend_long depth);
/* The option max_depth; `depth` keeps its value where it is missing. False: it is wrong. */
bool ice_depth_option(HashTable *options, const char *function, zend_long *depth);
/* Reads PHP's text as unserialize() does. False: an exception was thrown, or what PHP would
 * say was said. */
bool ice_unserialize(zend_string *text, ice_read_settings *settings, zend_long depth, const char *function, zval *result);
/* Reads and builds a document. False: an exception was thrown. */
bool ice_read(const icecore_stage *stage, zend_string *bytes, const ice_read_settings *settings, zval *result);
/* The same, where malformed data is a warning, and the result null. */
void ice_read_warning(int which, zend_string *bytes, const ice_read_settings *settings, zend_long depth, zval *result);
/* The variables of a session, as an array. False: the text is malformed, or an exception
 * was thrown. */
bool ice_read_session(zend_string *text, ice_read_settings *settings, zval *variables);
/* The text of a session; `by_php` writes it where only PHP can. */
zend_string *ice_write_session(zval *variables, zend_string *(*by_php)(HashTable *variables));
/* The bytes of a value; NULL: an exception was thrown. `purpose` is one of ICE_FOR_. */
zend_string *ice_write(zval *value, int which, uint8_t purpose);
/* The same in any format. */
zend_string *ice_write_any(zval *value, const icecore_stage *stage);
/* Bytes in another format. NULL: an exception of this class was thrown. */
zend_string *ice_converted(const icecore_stage *from, zend_string *bytes, const icecore_stage *to,
                           zend_class_entry *thrown);

#endif
