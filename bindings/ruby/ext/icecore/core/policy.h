/* What the files of the policy share.
 *
 *   policy_lists.c  what lists say of a class
 *   policy_names.c  which class a node names
 *   policy_words.c  words, refusals
 *   nested.c        data of Marshal in what a hook gets: nested.h
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

/* What becomes of a class of this name. */
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

/* The name that such a node asks for, or NULL. */
const char *ice_asked_name(const icecore_view *view, const icecore_node *node, size_t *len);
/* Which of Ruby's own classes this is, in a form in which Ruby writes or wrote it. */
uint8_t ice_own_class(const icecore_node *node, const char *name, size_t len);
/* Whether a node is a value of one of these, in this form or in another one: a list does
 * not help where the form is another one. */
bool ice_is_own_form(const icecore_node *node, const char *name, size_t len);
/* Notes a class that no list would help. */
void ice_policy_refuse_always(VALUE *without_remedy, VALUE class);
/* Raises for names, with their paths. */
NORETURN(void ice_policy_raise(VALUE refused, VALUE said, VALUE without_remedy));
/* Notes once in a process what is said of a class. */
void ice_policy_report(VALUE *said, uint32_t what, VALUE class, const char *path);
/* Of which edition the rules are that a class is asked for by; 0: of this call's alone. */
uint64_t ice_edition_of(const ice_allowed *allowed);

#endif
