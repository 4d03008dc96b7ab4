/* Reading a tape: the bytes of strings and names, and the next node.
 *
 * Ownership: a view and everything in it are lent until its context is used again, and
 * strings are borrowed from the input. A host keeps the input alive and unchanged, or
 * sets `view->input` to a copy before foreign code runs.
 *
 *   for (at = view.root; at < end; at = ice_next(&view, at)) {
 *       const icecore_node *node = &view.nodes[at];
 *       size_t len;
 *       const char *text = ice_bytes_of(&view, node, &len);
 *   }
 */
#ifndef ICE_VIEW_H
#define ICE_VIEW_H
#include "common/ice_host.h"
#include "icecore.h"

/* The class and the form of a node that has them. */
#define ICE_CLASS_OF(node) ((uint32_t)(uint16_t)((node)->payload >> ICECORE_CLASS_SHIFT))
#define ICE_FORM_OF(node) ((uint8_t)((node)->payload >> ICECORE_FORM_SHIFT))

/* Returns the bytes of a string that is too long for a node; fails if it has no place. */
const char *ice_long_bytes(const icecore_view *view, const icecore_node *node, size_t *len);
/* Returns the name of a key or a class with this id, and its bytes; NULL if there is
 * none. */
const icecore_name *ice_name(const icecore_names *names, uint32_t id, const char **text);
/* Returns the last child of a container that is not empty. */
uint32_t ice_last_child(const icecore_view *view, uint32_t at);

/* Returns the bytes of a string. */
static inline const char *
ice_bytes_of(const icecore_view *view, const icecore_node *node, size_t *len)
{
    const uint64_t offset = node->payload & ICECORE_OFFSET;
    const int in_arena = (node->payload & ICECORE_IN_ARENA) != 0;
    const uint64_t base_len = in_arena ? view->arena_len : view->input_len;
    if (ICE_UNLIKELY(node->aux == ICECORE_LONG || offset > base_len || node->aux > base_len - offset))
        return ice_long_bytes(view, node, len);
    *len = node->aux;
    return (const char *)(in_arena ? view->arena : view->input) + offset;
}

/* Returns the node after the one at `at` and its contents. */
static inline uint32_t
ice_next(const icecore_view *view, uint32_t at)
{
    const icecore_node *node = &view->nodes[at];
    return node->kind < ICECORE_ARRAY ? at + 1 : (uint32_t)node->payload;
}

#endif
