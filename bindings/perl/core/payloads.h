/* Frozen data in the payloads of hooks.
 *
 * A class may freeze its data by Storable or Sereal itself, and thaw it in its hook.
 * Such strings are read here before any hook is called, and their classes are checked
 * against the list of the document. Data that the class decodes first (Base64, zlib, an
 * offset) is its own responsibility. */
#ifndef ICECORE_PAYLOADS_H
#define ICECORE_PAYLOADS_H
#include "core/icecore_perl.h"

typedef struct ice_payload_checker ice_payload_checker;

void ice_payloads_boot(pTHX);
void ice_payloads_clone(pTHX);
void ice_payloads_end(pTHX);

/* Begins a check for the document in the view of a context; lives until perl leaves the
 * scope. */
ice_payload_checker *ice_payloads_begin(pTHX_ ice_context *ctx, const icecore_view *view,
                                        const ice_read_settings *settings);
/* Searches for strings in the data of the hook of the object at a node. */
void ice_payloads_add(pTHX_ ice_payload_checker *payloads, U32 at);
bool ice_payloads_has_any(const ice_payload_checker *payloads);
/* Reads the strings that were found. Dies if a class is not allowed, as for one in the
 * document itself, and if reading costs too much. */
void ice_payloads_check(pTHX_ ice_payload_checker *payloads);

#endif
