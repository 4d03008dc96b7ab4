/* Frozen data in the payloads of hooks.
 *
 * The hook of a class may itself freeze data by Storable or Sereal, and thaw it again. Such
 * strings are called payloads here. They are read before any hook is called, and their classes
 * are checked against the list of the document. Strings that a hook decodes before it thaws them
 * (Base64, zlib, an offset) are not found; they are the responsibility of the class. */
#ifndef ICECORE_PAYLOADS_H
#define ICECORE_PAYLOADS_H
#include "core/icecore_perl.h"

typedef struct ice_payload_checker ice_payload_checker;

void ice_payloads_boot(pTHX);
void ice_payloads_clone(pTHX);
void ice_payloads_end(pTHX);

/* Begins the check of a document. The checker lives until the call of the context ends. */
ice_payload_checker *ice_payloads_begin(pTHX_ ice_context *ctx, const icecore_view *view,
                                        const ice_read_settings *settings);
/* Searches for payloads in the data that the hook of an object receives; `index` is its node. */
void ice_payloads_add(pTHX_ ice_payload_checker *checker, U32 index);
bool ice_payloads_has_any(const ice_payload_checker *checker);
/* Reads the payloads that were found. Dies if a class in them is not allowed, or if reading costs
 * too much. */
void ice_payloads_check(pTHX_ ice_payload_checker *checker);

#endif
