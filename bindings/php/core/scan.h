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

#endif
