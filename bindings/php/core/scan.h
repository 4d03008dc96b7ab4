#ifndef ICE_SCAN_H
#define ICE_SCAN_H
#include "core/icecore_php.h"

/* Adds all names of classes that PHP might meet in this text, those of enums with true. */
void ice_scan_classes(const char *text, size_t len, HashTable *names);

/* Adds what the `C:` objects of a well-formed text hold, where it begins as frozen data does. */
void ice_scan_payloads(zend_string *text, HashTable *payloads);

/* Where the piece of text ends that begins at `offset`: a leaf, or the front of a container. */
size_t ice_scan_behind(zend_string *text, size_t offset);
/* The text that a view was made of, up to where it was looked at: from node to node. */
typedef struct ice_scan {
    const icecore_view *view;
    const char *at;
    uint32_t node;            /* the next one */
    bool is_key_done;         /* whether `at` is behind its key */
    uint32_t wide;            /* how many integers beyond 64 bits were passed */
    uint32_t wide_said;
} ice_scan;

void ice_scan_begin(ice_scan *scan, const icecore_view *view);
/* Warns of each integer beyond 64 bits before a node; `is_behind`: of that at the node, too. */
void ice_scan_say_wide(ice_scan *scan, uint32_t node, bool is_behind);
/* Where the value of a node begins in the text that the view was made of; `is_behind`: where
 * it ends, if it is a leaf, or its front. */
size_t ice_scan_offset(const icecore_view *view, uint32_t node, bool is_behind);

/* Warns so often of an integer or a count beyond 64 bits. */
void ice_say_wide(uint32_t count);
/* How many integers beyond 64 bits there are in the first `len` bytes of a text. */
uint32_t ice_scan_overflows(zend_string *text, size_t len);
/* How many strings with escapes (`S:`) there are in the first `len` bytes of a text. */
uint32_t ice_scan_escaped(zend_string *text, size_t len);
/* How many bytes a `C:` object is said to have whose payload begins at `offset`, and whether
 * that number is beyond 64 bits. False: none begins there. */
bool ice_scan_payload(zend_string *text, size_t offset, zend_long *len, bool *is_wide);
/* The name of the enum case at `offset`; NULL: there is none. */
const char *ice_scan_enum(zend_string *text, size_t offset, size_t *len);

#endif
