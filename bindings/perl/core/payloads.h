/* Frozen data in what hooks are given.
 *
 * A class may freeze what it has by Storable or Sereal itself, and thaw it in its hook. Such
 * strings are read here before any hook is called, and their classes are asked for under the
 * list of the document. What the class decodes first (Base64, zlib, an offset) is its own
 * responsibility. */
#ifndef ICECORE_PAYLOADS_H
#define ICECORE_PAYLOADS_H
#include "core/icecore_perl.h"

typedef struct ice_payloads ice_payloads;

void ice_payloads_boot(pTHX);
void ice_payloads_clone(pTHX);
void ice_payloads_end(pTHX);

/* For what was read to the view of a context; lives until perl leaves the scope. */
ice_payloads *ice_payloads_begin(pTHX_ ice_context *ctx, const icecore_view *view, const ice_read_settings *set);
/* Looks for strings in what the hook of the object at a node is given. */
void ice_payloads_add(pTHX_ ice_payloads *payloads, U32 at);
bool ice_payloads_has_any(const ice_payloads *payloads);
/* Reads what was found. Dies of a class that is not allowed, as for one in the document itself,
 * and of what is too much to be read. */
void ice_payloads_check(pTHX_ ice_payloads *payloads);

#endif
