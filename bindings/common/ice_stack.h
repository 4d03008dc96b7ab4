/* Stacks that grow by doubling.
 *
 * The caller stores the items, their number and the capacity, and frees the memory with
 * ice_host_free.
 *
 *   if (ICE_UNLIKELY(depth == capacity))
 *       frames = ice_stack_grow(frames, &capacity, sizeof *frames, 64);
 *   frames[depth++] = frame;
 */
#ifndef ICE_STACK_H
#define ICE_STACK_H
#include "common/ice_host.h"

/* Doubles the capacity of a stack; an empty one gets memory for `first` items of `size` bytes.
 * Returns the new memory. */
static inline void *
ice_stack_grow(void *items, uint32_t *capacity, size_t size, uint32_t first)
{
    const uint32_t new_capacity = *capacity ? *capacity * 2 : first;
    if (new_capacity <= *capacity || new_capacity > SIZE_MAX / size)
        ice_host_fail("too many values");
    items = ice_host_resize(items, new_capacity * size);
    *capacity = new_capacity;
    return items;
}

#endif
