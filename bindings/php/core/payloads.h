#ifndef ICE_PAYLOADS_H
#define ICE_PAYLOADS_H
#include "core/stages.h"

typedef enum {
    ICE_PAYLOADS_FINE,
    ICE_PAYLOADS_MALFORMED, /* the error has the position */
    ICE_PAYLOADS_RECORDS,   /* PHP's own reader can't make the records that are requested */
    ICE_PAYLOADS_THROWN     /* a class is not allowed */
} ice_payloads;

/* Checks PHP's text and the data that its classes froze themselves (`C:`), before PHP's
 * own reader gets it: the engine reads all of it, and all classes in it are checked.
 * `names` receives those that may be built. */
ice_payloads ice_payloads_check_text(zend_string *text, const ice_allowed *allowed, zend_long depth, HashTable *names,
                                     icecore_error *error);
/* Whether some of the classes and enums of the document become records. */
bool ice_payloads_has_records(ice_context *ctx, const ice_allowed *allowed);
/* Checks the data that classes froze themselves in a document that Icecore builds,
 * before these classes receive it. False: an exception was thrown. */
bool ice_payloads_check_view(ice_context *ctx, const ice_allowed *allowed);

#endif
