/* A hash table with open addressing and linear probing. At most half of the slots are used, so each
 * search ends at a free slot. */
#include "common/ice_map.h"
#include "common/ice_host.h"
#include "icecore.h"
#include <string.h>

/* A map with more slots than this is freed when it is cleared. */
#define MAX_KEPT_SLOTS 65536
/* A map with more slots than this is also freed if hardly any of them are used, because clearing
 * all its slots would cost more than a new map. */
#define MAX_SPARSE_SLOTS 512
/* Maximum number of slots. Their number must fit in 32 bits, and on a machine with 32-bit addresses
 * their memory must be addressable. */
#define MAX_SLOTS (SIZE_MAX > UINT32_MAX ? UINT32_C(1) << 31 : UINT32_C(1) << 27)

/* Returns the slot where the search for an address begins. Addresses are multiples of 8, so their
 * lowest 3 bits are dropped. They often follow one another, so a factor spreads them. Its upper
 * bits depend on all bits of the address. */
static uint32_t
first_slot(const void *key, uint32_t mask)
{
    const uint64_t bits = (uint64_t)(uintptr_t)key >> 3;
    return (uint32_t)((bits * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;
}

ice_slot *
ice_map_find(const ice_map *map, const void *key)
{
    uint32_t index;
    if (!map->count)
        return NULL;
    for (index = first_slot(key, map->mask); map->slots[index].key; index = (index + 1) & map->mask)
        if (map->slots[index].key == key)
            return &map->slots[index];
    return NULL;
}

/* Doubles the number of slots. */
static void
grow(ice_map *map)
{
    const uint32_t size = map->mask ? (map->mask + 1) * 2 : 64;
    uint32_t i;
    ice_map bigger;
    /* The doubled size of 2^31 slots overflows to 0. */
    if (size == 0 || size > MAX_SLOTS)
        ice_host_fail("too many objects");
    bigger.slots = ice_host_resize(NULL, size * sizeof(ice_slot));
    memset(bigger.slots, 0, size * sizeof(ice_slot));
    bigger.mask = size - 1;
    bigger.count = map->count;
    for (i = 0; map->mask && i <= map->mask; i++)
        if (map->slots[i].key) {
            uint32_t index = first_slot(map->slots[i].key, bigger.mask);
            while (bigger.slots[index].key)
                index = (index + 1) & bigger.mask;
            bigger.slots[index] = map->slots[i];
        }
    ice_host_free(map->slots);
    *map = bigger;
}

ice_slot *
ice_map_add(ice_map *map, const void *key, uint32_t value)
{
    uint32_t index;
    if (!map->mask || map->count * 2 > map->mask)
        grow(map);
    index = first_slot(key, map->mask);
    while (map->slots[index].key && map->slots[index].key != key)
        index = (index + 1) & map->mask;
    if (!map->slots[index].key)
        map->count++;
    map->slots[index].key = key;
    map->slots[index].value = value;
    map->slots[index].object = ICECORE_NONE;
    return &map->slots[index];
}

void
ice_map_clear_nonempty(ice_map *map)
{
    if (map->mask > MAX_KEPT_SLOTS || (map->mask > MAX_SPARSE_SLOTS && map->count < map->mask / 16)) {
        ice_map_free(map);
        return;
    }
    memset(map->slots, 0, ((size_t)map->mask + 1) * sizeof(ice_slot));
    map->count = 0;
}

void
ice_map_free(ice_map *map)
{
    ice_host_free(map->slots);
    map->slots = NULL;
    map->mask = map->count = 0;
}
