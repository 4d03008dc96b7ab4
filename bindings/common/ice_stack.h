/* Stacks that grow by doubling.
 *
 * The items, how many there are and for how many there is room stand in a struct of the
 * caller, who gives the memory back with ice_host_free.
 *
 *   if (ICE_UNLIKELY(depth == room))
 *       frames = ice_stack_grow(frames, &room, sizeof *frames, 64);
 *   frames[depth++] = frame;
 */
#ifndef ICE_STACK_H
#define ICE_STACK_H
#include "common/ice_host.h"

/* Room for `first` items, or for twice as many as there was room for. */
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
