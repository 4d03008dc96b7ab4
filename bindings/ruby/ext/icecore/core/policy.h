/* Declarations that the files of the policy share.
 *
 *   policy_lists.c  the lists of allowed classes
 *   policy_names.c  the class that a node names
 *   policy_messages.c  the messages about refused and reported classes
 *   nested.c        Marshal data in the payloads of hooks: nested.h
 *   policy.c        the check of all classes of a document
 */
#ifndef ICE_POLICY_H
#define ICE_POLICY_H
#include "core/icecore_ruby.h"

/* Returns the engine's form of a class name in UTF-8. It borrows the bytes. */
static inline icecore_class_name
ice_utf8_class_name(const char *bytes, size_t len)
{
    const icecore_class_name name = { (const uint8_t *)bytes, len, 1 };
    return name;
}

/* Returns the verdict about the class of this name: one of icecore_verdict, and
 * ICECORE_REPORTED if a warning is due. */
uint32_t ice_verdict_of(const ice_class_rules *rules, const char *bytes, size_t len);
/* Returns a verdict without ICECORE_REPORTED: one of icecore_verdict. */
static inline uint32_t
ice_without_report(uint32_t verdict)
{
    return verdict & ~(uint32_t)ICECORE_REPORTED;
}

/* Returns true if a node of this kind can name a class. */
static inline bool
ice_node_names_class(const icecore_node *node)
{
    static const uint64_t kinds = UINT64_C(1) << ICECORE_OBJECT | UINT64_C(1) << ICECORE_OPAQUE |
                                  UINT64_C(1) << ICECORE_ATTRS | UINT64_C(1) << ICECORE_MODULE |
                                  UINT64_C(1) << ICECORE_REGEXP;
    /* All kinds are below 64; the mask only makes the shift defined for any byte. */
    return kinds >> (node->kind & 63) & 1;
}

/* Returns the name of the class that a node of such a kind needs, or NULL. */
const char *ice_node_class_name(const icecore_view *view, const icecore_node *node, size_t *len);
/* Returns the kind of the node's class (ICE_CLASS_...) if it is one of Ruby's own, in a form in
 * which some version of Ruby writes it; otherwise ICE_CLASS_UNKNOWN. */
uint8_t ice_builtin_class_kind(const icecore_node *node, const char *name, size_t len);
/* Returns true if a node names one of Ruby's own classes, in any form. If Ruby does not write the
 * form, the class is refused, and a list can't allow it. */
bool ice_names_builtin_class(const icecore_node *node, const char *name, size_t len);
/* Adds a class that no list can allow. `unlistable` is a Hash, or nil at first. */
void ice_policy_add_unlistable(VALUE *unlistable, VALUE class);
/* Issues the warnings, and raises for the refused classes, a Hash from names to paths. */
NORETURN(void ice_policy_raise(VALUE refused, VALUE warnings, VALUE unlistable));
/* Adds a warning about a class, unless this process has warned of the class before.
 * `message_kind` is ICECORE_WORDS_BUILT or ICECORE_WORDS_REFUSED. */
void ice_policy_add_warning(VALUE *warnings, uint32_t message_kind, VALUE class, const char *path);
/* Returns the edition of the rules of a call: a number that changes whenever the rules change, so
 * a verdict may be reused while the edition is the same. Returns 0 if no verdict may be reused. */
uint64_t ice_rules_edition(const ice_class_rules *rules);

#endif
