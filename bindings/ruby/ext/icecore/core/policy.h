/* Declarations that the files of the policy share.
 *
 *   policy_lists.c  the lists of allowed classes
 *   policy_names.c  the class that a node names
 *   policy_words.c  messages, refusals
 *   nested.c        Marshal data in the payloads of hooks: nested.h
 *   policy.c        the classes of a document
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

/* Returns the verdict for a class of this name. */
uint32_t ice_verdict_of(const ice_allowed *allowed, const char *bytes, size_t len);
/* Whether a node can name a class. */
static inline bool
ice_names_class(const icecore_node *node)
{
    static const uint64_t asked = UINT64_C(1) << ICECORE_OBJECT | UINT64_C(1) << ICECORE_OPAQUE |
                                  UINT64_C(1) << ICECORE_ATTRS | UINT64_C(1) << ICECORE_MODULE |
                                  UINT64_C(1) << ICECORE_REGEXP;
    return asked >> (node->kind & 63) & 1;
}

/* Returns the name of the class that such a node needs, or NULL. */
const char *ice_asked_name(const icecore_view *view, const icecore_node *node, size_t *len);
/* Returns which of Ruby's own classes this is, in a form in which Ruby writes or wrote
 * it. */
uint8_t ice_own_class(const icecore_node *node, const char *name, size_t len);
/* Whether a node is a value of one of these classes, in this or another form. A list
 * can't allow another form. */
bool ice_is_own_form(const icecore_node *node, const char *name, size_t len);
/* Registers a class that no list can allow. */
void ice_policy_refuse_always(VALUE *without_remedy, VALUE class);
/* Raises for refused names, with their paths. */
NORETURN(void ice_policy_raise(VALUE refused, VALUE said, VALUE without_remedy));
/* Registers a message about a class, once in a process. */
void ice_policy_report(VALUE *said, uint32_t what, VALUE class, const char *path);
/* Returns the edition of the rules for a class; 0: the rules of this call alone. */
uint64_t ice_edition_of(const ice_allowed *allowed);

#endif
