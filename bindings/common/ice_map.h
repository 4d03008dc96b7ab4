/* A hash map from the addresses of host objects to node indices (or other numbers).
 *
 * Ownership: the map allocates its own memory, and does not keep objects alive. The caller must
 * keep each added object alive while the map is in use; otherwise a new object at the same
 * address would be mistaken for the old one.
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
    uint32_t value;  /* the number; mostly the index of a node */
    uint32_t object; /* the object node around that node; ICECORE_NONE until the caller sets it */
} ice_slot;

typedef struct {
    ice_slot *slots;
    uint32_t mask; /* number of slots minus 1; 0 until memory is allocated */
    uint32_t count; /* number of addresses */
} ice_map;

/* Returns the slot of an address, or NULL if the map does not contain it. The slot is valid
 * until the next address is added. */
ice_slot *ice_map_find(const ice_map *map, const void *key);
/* Adds an address with its number, or changes its number. `key` must not be NULL. */
ice_slot *ice_map_add(ice_map *map, const void *key, uint32_t value);
/* Removes all addresses. The memory is kept unless it is large. */
static inline void ice_map_clear(ice_map *map);
/* Frees the memory. */
void ice_map_free(ice_map *map);
/* The part of ice_map_clear for maps that are not empty. */
void ice_map_clear_nonempty(ice_map *map);

static inline void
ice_map_clear(ice_map *map)
{
    if (map->count)
        ice_map_clear_nonempty(map);
}

#endif
