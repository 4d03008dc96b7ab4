/* Reading a tape: the bytes of strings and names, and the next node.
 *
 * Ownership: a view and everything in it are valid until its context is used again. Strings are
 * borrowed from the input, so the host must keep the input alive and unchanged, or set
 * `view->input` to a copy before foreign code runs.
 *
 *   for (index = view.root; index < end; index = ice_next(&view, index)) {
 *       const icecore_node *node = &view.nodes[index];
 *       size_t len;
 *       const char *text = ice_bytes_of(&view, node, &len);
 *   }
 */
#ifndef ICE_VIEW_H
#define ICE_VIEW_H
#include "common/ice_host.h"
#include "icecore.h"

/* The id of the class and the form of a node; only for kinds that have them. */
#define ICE_CLASS_OF(node) ((uint32_t)(uint16_t)((node)->payload >> ICECORE_CLASS_SHIFT))
#define ICE_FORM_OF(node) ((uint8_t)((node)->payload >> ICECORE_FORM_SHIFT))
/* The id of the encoding of a string, a symbol or a key: bits 48 to 62. 0 if it has none. */
#define ICE_ENCODING_OF(node) ((uint32_t)((node)->payload >> 48) & 0x7FFF)

/* The part of ice_bytes_of for strings of 4 GB or more, and for nodes that are damaged. Fails if
 * the string is outside of the document. */
const char *ice_long_bytes(const icecore_view *view, const icecore_node *node, size_t *len);
/* Returns the name with this id in a table of keys, classes or encodings, or NULL. `text`
 * receives its bytes; their number is `node.aux`. */
const icecore_name *ice_name(const icecore_names *names, uint32_t id, const char **text);
/* Returns the last child of a container that is not empty. */
uint32_t ice_last_child(const icecore_view *view, uint32_t index);

/* Returns the bytes of a string; `len` receives their number. */
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

/* Returns the index of the node after node `index` and its contents. */
static inline uint32_t
ice_next(const icecore_view *view, uint32_t index)
{
    const icecore_node *node = &view->nodes[index];
    return node->kind < ICECORE_ARRAY ? index + 1 : (uint32_t)node->payload;
}

#endif
