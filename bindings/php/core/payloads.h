#ifndef ICE_PAYLOADS_H
#define ICE_PAYLOADS_H
#include "core/stages.h"

typedef enum {
    ICE_PAYLOADS_FINE,
    ICE_PAYLOADS_MALFORMED, /* the error says where */
    ICE_PAYLOADS_RECORDS,   /* PHP's own reader can't make the records that are asked for */
    ICE_PAYLOADS_THROWN     /* a class is not allowed */
} ice_payloads;

/* Checks PHP's text and what its classes froze themselves (`C:`), before PHP's own reader gets it: all of it is read by
 * the engine, and all classes in it are asked for. `names` gets those that may be built. */
ice_payloads ice_payloads_check_text(zend_string *text, const ice_allowed *allowed, zend_long depth, HashTable *names,
                                     icecore_error *error);
/* Whether some of the classes and enums of the document become records. */
bool ice_payloads_has_records(ice_context *ctx, const ice_allowed *allowed);
/* Checks what classes froze themselves in a document that Icecore builds, before these classes get it. False: an
 * exception was thrown. */
bool ice_payloads_check_view(ice_context *ctx, const ice_allowed *allowed);

#endif
