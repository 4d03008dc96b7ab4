#ifndef ICE_SCAN_H
#define ICE_SCAN_H
#include "core/icecore_php.h"

/* Adds all names of classes that PHP might meet in this text; the names of enums with
 * true. */
void ice_scan_classes(const char *text, size_t len, HashTable *names);

/* Adds the payloads of `C:` objects of a well-formed text that begin like frozen data. */
void ice_scan_payloads(zend_string *text, HashTable *payloads);

/* Returns the end of the piece of text that begins at `offset`: a leaf, or the front of
 * a container. */
size_t ice_scan_behind(zend_string *text, size_t offset);
/* The text of a view, and the position up to which it was scanned, node by node. */
typedef struct ice_scan {
    const icecore_view *view;
    const char *at;
    uint32_t node;            /* the next one */
    bool is_key_done;         /* `at` is after the key of the node */
    uint32_t wide;            /* number of integers beyond 64 bits so far */
    uint32_t wide_said;
} ice_scan;

void ice_scan_begin(ice_scan *scan, const icecore_view *view);
/* Warns of each integer beyond 64 bits before a node; `is_behind`: of the one at the
 * node too. */
void ice_scan_say_wide(ice_scan *scan, uint32_t node, bool is_behind);
/* Returns the offset of the value of a node in the text of the view; `is_behind`: the
 * offset where it ends, if it is a leaf, or where its front ends. */
size_t ice_scan_offset(const icecore_view *view, uint32_t node, bool is_behind);

/* Warns `count` times of an integer or a count beyond 64 bits. */
void ice_say_wide(uint32_t count);
/* Returns the number of integers beyond 64 bits in the first `len` bytes of a text. */
uint32_t ice_scan_overflows(zend_string *text, size_t len);
/* Returns the number of strings with escapes (`S:`) in the first `len` bytes of a text. */
uint32_t ice_scan_escaped(zend_string *text, size_t len);
/* Reads the length of the `C:` object whose payload begins at `offset`; `is_wide`
 * receives whether the number is beyond 64 bits. False: none begins there. */
bool ice_scan_payload(zend_string *text, size_t offset, zend_long *len, bool *is_wide);
/* Returns the name of the enum case at `offset`; NULL: there is none. */
const char *ice_scan_enum(zend_string *text, size_t offset, size_t *len);

#endif
