/* Functions that check the payloads of `C:` objects. payloads.c explains why. */
#ifndef ICE_PAYLOADS_H
#define ICE_PAYLOADS_H
#include "core/stages.h"

typedef enum {
    ICE_PAYLOADS_ALLOWED,
    ICE_PAYLOADS_MALFORMED,    /* `error` receives the cause */
    ICE_PAYLOADS_NEED_RECORDS, /* some objects become records, which PHP's own reader can't make */
    ICE_PAYLOADS_THROWN        /* an exception was thrown: a class is refused */
} ice_payloads_result;

/* Checks PHP's text and the payloads of its `C:` objects, before PHP's own reader receives it.
 * The engine reads all of it, and checks all classes in it. `allowed_names` receives the names
 * of the classes that may be built; it must be empty. */
ice_payloads_result ice_payloads_check_text(zend_string *text, const ice_class_options *class_options,
                                            zend_long depth, HashTable *allowed_names, icecore_error *error);
/* Checks a text whose payloads are checked when their classes read them. The text without its
 * payloads must be well-formed. `error` receives the cause unless the text has no payloads. */
ice_payloads_result ice_payloads_check_form(zend_string *text, const ice_class_options *class_options,
                                            zend_long depth, HashTable *allowed_names, icecore_error *error);
/* Checks the classes of a document whose payloads were not decoded, and the class names in its
 * payloads. Returns false if an exception was thrown. */
bool ice_payloads_check_unresolved(ice_context *ctx, const ice_class_options *class_options,
                                   HashTable *allowed_names);
/* Does what ice_payloads_check_text does for the text of a session. A payload that is malformed, or whose links can't be
 * followed, is accepted if every class name in it is allowed: PHP reads such a session, and would
 * destroy it if it were refused. */
ice_payloads_result ice_payloads_check_session(zend_string *text, const ice_class_options *class_options,
                                               HashTable *allowed_names);
/* Returns the bytes of the payload of a `C:` object, or NULL if the engine decoded it. */
const char *ice_payloads_bytes(const icecore_view *view, const icecore_node *opaque, size_t *len);
/* Returns true if some objects or enum cases of the document become records. */
bool ice_payloads_has_records(ice_context *ctx, const ice_class_options *class_options);
/* Checks the payloads in a document that this module builds, before their classes receive them.
 * Returns false if an exception was thrown. */
bool ice_payloads_check_view(ice_context *ctx, const ice_class_options *class_options);

#endif
