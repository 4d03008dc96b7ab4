/* A map from addresses to numbers: which object of the host is which node.
 *
 * Ownership: the map has memory of its own and holds nothing alive. Whoever puts an
 * address in sees to it that the object lives as long as it may be looked up; another
 * object at the same address would be taken for it.
 *
 *   ice_map seen = { 0 };
 *   ice_slot *slot = ice_map_find(&seen, object);
 *   if (slot)
 *       push_link(slot->value);
 *   else
 *       ice_map_add(&seen, object, tape.node_count);
 *   ...
 *   ice_map_clear(&seen);   // keeps memory for the next call
 */
#ifndef ICE_MAP_H
#define ICE_MAP_H
#include <stdint.h>

typedef struct {
    const void *key;
    uint32_t value;
    uint32_t object; /* a second number: the object node around `value`; ICECORE_NONE at first */
} ice_slot;

typedef struct {
    ice_slot *slots;
    uint32_t mask; /* size - 1; 0: nothing allocated */
    uint32_t used;
} ice_map;

/* NULL, if it is not there. A slot is lent until something is added. */
ice_slot *ice_map_find(const ice_map *map, const void *key);
/* Adds an address, or gives it another number. `key` is not NULL. */
ice_slot *ice_map_add(ice_map *map, const void *key, uint32_t value);
/* Forgets all; memory is kept unless it was much. */
static inline void ice_map_clear(ice_map *map);
void ice_map_free(ice_map *map);
void ice_map_forget(ice_map *map);

static inline void
ice_map_clear(ice_map *map)
{
    if (map->used)
        ice_map_forget(map);
}

#endif
