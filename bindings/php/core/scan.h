#ifndef ICE_SCAN_H
#define ICE_SCAN_H
#include "core/icecore_php.h"

/* Adds all names of classes that PHP might meet in this text. */
void ice_scan_classes(const char *text, size_t len, HashTable *names);

/* Where the piece of text ends that begins at `offset`: a leaf, or the front of a container. */
size_t ice_scan_behind(zend_string *text, size_t offset);
/* Where the value of a node begins in the text that the view was made of; `is_behind`: where
 * it ends, if it is a leaf, or its front. */
size_t ice_scan_offset(const icecore_view *view, uint32_t node, bool is_behind);

/* How many integers beyond 64 bits there are in the first `len` bytes of a text. */
uint32_t ice_scan_overflows(zend_string *text, size_t len);
/* How many strings with escapes (`S:`) there are in the first `len` bytes of a text. */
uint32_t ice_scan_escaped(zend_string *text, size_t len);
/* How many bytes a `C:` object is said to have whose payload begins at `offset` and is not all
 * there; -1: none does. */
zend_long ice_scan_missing(zend_string *text, size_t offset);
/* The name of the enum case at `offset`; NULL: there is none. */
const char *ice_scan_enum(zend_string *text, size_t offset, size_t *len);

#endif
