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

/* Doubles the capacity of a stack, and returns the new memory. A stack without memory gets
 * memory for `first` items of `size` bytes. The host's function may leave by an exception, so the
 * capacity changes only after it. */
static inline void *
ice_stack_grow(void *items, uint32_t *capacity, size_t size, uint32_t first)
{
    const uint32_t new_capacity = *capacity ? *capacity * 2 : first;
    /* The doubled capacity is smaller only if it overflowed. */
    if (new_capacity <= *capacity || new_capacity > SIZE_MAX / size)
        ice_host_fail("too many values");
    items = ice_host_resize(items, new_capacity * size);
    *capacity = new_capacity;
    return items;
}

#endif
