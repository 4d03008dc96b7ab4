/* Searches PHP's serialized text without parsing it.
 *
 * A token of the text is a scalar, or the header of a container: everything up to its `{`. */
#ifndef ICE_SCAN_H
#define ICE_SCAN_H
#include "core/icecore_php.h"

/* Adds all class names that PHP might find in this text. The value of an enum's name is true, and
 * the value of any other name is null, as ice_policy_check_names expects. */
void ice_scan_classes(const char *text, size_t len, HashTable *names);

/* Adds the payloads of the `C:` objects in a well-formed text, if they begin like serialized
 * data. */
void ice_scan_payloads(zend_string *text, HashTable *payloads);

/* Does the same for the text of a session. */
void ice_scan_session_payloads(zend_string *text, HashTable *payloads);

/* Returns the offset after the token that begins at `offset`. */
size_t ice_scan_token_end(zend_string *text, size_t offset);
size_t ice_scan_token_end_in(const char *start, size_t len, size_t offset);
/* Returns the offset after the name, with its quote and the next byte, in the token that begins at
 * `offset`; `offset` if the token has no name. */
size_t ice_scan_name_end(const char *start, size_t len, size_t offset);

/* A scan of the text that follows the nodes of a view. It counts the integers that need more
 * than 64 bits: PHP cuts them, with a warning for each. */
typedef struct ice_scan {
    const icecore_view *view;
    const char *cursor;       /* the text before it was scanned */
    uint32_t next_node;       /* the node that is scanned next */
    bool is_key_done;         /* `cursor` is after the key of this node */
    uint32_t wide_count;      /* number of integers beyond 64 bits so far */
    uint32_t warned_wide_count; /* number of these integers for which a warning was issued */
} ice_scan;

void ice_scan_start(ice_scan *scan, const icecore_view *view);
/* Issues the warnings about the integers before a node that were cut to 64 bits, unless they were
 * issued earlier. If `includes_node` is true, the value of the node itself is included. */
void ice_scan_warn_wide(ice_scan *scan, uint32_t node, bool includes_node);
/* Returns the offset in the text of the view where the value of a node begins. If `includes_node`
 * is true, returns the offset after the first token of the value. */
size_t ice_scan_offset(const icecore_view *view, uint32_t node, bool includes_node);

/* Issues PHP's warning about a number beyond 64 bits, `count` times. */
void ice_warn_wide(uint32_t count);
/* Returns the number of integers beyond 64 bits in the first `len` bytes of a text. */
uint32_t ice_scan_count_wide(zend_string *text, size_t len);
/* Returns the number of strings with escapes (`S:`) in the first `len` bytes of a text. */
uint32_t ice_scan_count_escaped(zend_string *text, size_t len);
/* Reads the length of the `C:` object whose payload begins at `offset`. `is_wide` receives true
 * if the number has more than 64 bits. Returns false if no payload begins there. */
bool ice_scan_payload_length(zend_string *text, size_t offset, zend_long *len, bool *is_wide);
/* Returns the name of the enum case whose token begins at `offset`, or NULL if none does. */
const char *ice_scan_enum_name(zend_string *text, size_t offset, size_t *len);

#endif
