/* A map from addresses to numbers: the nodes of the host's objects.
 *
 * Ownership: the map has memory of its own and keeps nothing alive. The caller that adds
 * an address must keep the object alive as long as it may be looked up; another object
 * at the same address would be mistaken for it.
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

/* Returns NULL if the address is not in the map. A slot is valid until something is
 * added. */
ice_slot *ice_map_find(const ice_map *map, const void *key);
/* Adds an address, or changes its number. `key` is not NULL. */
ice_slot *ice_map_add(ice_map *map, const void *key, uint32_t value);
/* Forgets everything; the memory is kept unless it is large. */
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
