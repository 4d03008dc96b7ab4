/* What the files of the policy share.
 *
 *   policy_lists.c  what lists say of a class
 *   policy.c        the classes of a document, words, refusals
 */
#ifndef ICE_POLICY_H
#define ICE_POLICY_H
#include "core/icecore_ruby.h"

static inline icecore_class_name
ice_lent_name(const char *bytes, size_t len)
{
    const icecore_class_name name = { (const uint8_t *)bytes, len, 1 };
    return name;
}

/* What becomes of a class of this name. */
uint32_t ice_verdict_of(const ice_allowed *allowed, const char *bytes, size_t len);
/* Of which edition the rules are that a class is asked for by; 0: of this call's alone. */
uint64_t ice_edition_of(const ice_allowed *allowed);

#endif
