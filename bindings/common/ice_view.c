#include "common/ice_view.h"

const char *
ice_long_bytes(const icecore_view *view, const icecore_node *node, size_t *len)
{
    const icecore_long *location;
    const uint8_t *base;
    uint64_t base_len;
    if (node->aux != ICECORE_LONG || node->payload >= view->long_count)
        ice_host_fail("a string outside the document");
    location = &view->long_strings[node->payload];
    base = location->in_arena ? view->arena : view->input;
    base_len = location->in_arena ? view->arena_len : view->input_len;
    /* The offset is checked first, so the subtraction can't overflow. */
    if (location->offset > base_len || location->len > base_len - location->offset)
        ice_host_fail("a string outside the document");
    *len = (size_t)location->len;
    return (const char *)base + location->offset;
}

const icecore_name *
ice_name(const icecore_names *names, uint32_t id, const char **text)
{
    const icecore_name *name;
    /* Ids begin with 1. */
    if (id == 0 || id > names->count)
        return NULL;
    name = &names->names[id - 1];
    *text = (const char *)names->bytes + (name->node.payload & ICECORE_OFFSET);
    return name;
}

uint32_t
ice_last_child(const icecore_view *view, uint32_t index)
{
    const uint32_t end = (uint32_t)view->nodes[index].payload;
    uint32_t child = index + 1, last = child;
    while (child < end) {
        last = child;
        child = ice_next(view, child);
    }
    return last;
}
