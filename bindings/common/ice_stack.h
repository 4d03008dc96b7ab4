/* Stacks that grow by doubling.
 *
 * The items, their number and the room for them are in a struct of the caller, who frees
 * the memory with ice_host_free.
 *
 *   if (ICE_UNLIKELY(depth == room))
 *       frames = ice_stack_grow(frames, &room, sizeof *frames, 64);
 *   frames[depth++] = frame;
 */
#ifndef ICE_STACK_H
#define ICE_STACK_H
#include "common/ice_host.h"

/* Makes room for `first` items, or doubles the room. */
static inline void *
ice_stack_grow(void *items, uint32_t *room, size_t size, uint32_t first)
{
    const uint32_t wanted = *room ? *room * 2 : first;
    if (wanted <= *room || wanted > SIZE_MAX / size)
        ice_host_fail("too many values");
    items = ice_host_resize(items, wanted * size);
    *room = wanted;
    return items;
}

#endif
