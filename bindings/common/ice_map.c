/* Open addressing with linear probing; at most half of the slots are used. */
#include "common/ice_map.h"
#include "common/ice_host.h"
#include "icecore.h"
#include <string.h>

/* Limits for clearing: a map with more slots than KEPT is freed when it is cleared, and
 * so is a map with more than FEW slots if hardly any are used, because clearing it would
 * cost more than a new one. */
#define KEPT 65536
#define FEW 512
/* Limit of counting and addressing. */
#define MOST_SLOTS (SIZE_MAX > UINT32_MAX ? UINT32_C(1) << 31 : UINT32_C(1) << 27)

/* Objects are at multiples of 8 at least, often in rows; the factor spreads them. */
static uint32_t
place(const void *key, uint32_t mask)
{
    const uint64_t bits = (uint64_t)(uintptr_t)key >> 3;
    return (uint32_t)((bits * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;
}

ice_slot *
ice_map_find(const ice_map *map, const void *key)
{
    uint32_t at;
    if (!map->used)
        return NULL;
    for (at = place(key, map->mask); map->slots[at].key; at = (at + 1) & map->mask)
        if (map->slots[at].key == key)
            return &map->slots[at];
    return NULL;
}

static void
grow(ice_map *map)
{
    const uint32_t size = map->mask ? (map->mask + 1) * 2 : 64;
    uint32_t i;
    ice_map bigger;
    if (size == 0 || size > MOST_SLOTS)
        ice_host_fail("too many objects");
    bigger.slots = ice_host_resize(NULL, size * sizeof(ice_slot));
    memset(bigger.slots, 0, size * sizeof(ice_slot));
    bigger.mask = size - 1;
    bigger.used = map->used;
    for (i = 0; map->mask && i <= map->mask; i++)
        if (map->slots[i].key) {
            uint32_t at = place(map->slots[i].key, bigger.mask);
            while (bigger.slots[at].key)
                at = (at + 1) & bigger.mask;
            bigger.slots[at] = map->slots[i];
        }
    ice_host_free(map->slots);
    *map = bigger;
}

ice_slot *
ice_map_add(ice_map *map, const void *key, uint32_t value)
{
    uint32_t at;
    if (!map->mask || map->used * 2 > map->mask)
        grow(map);
    at = place(key, map->mask);
    while (map->slots[at].key && map->slots[at].key != key)
        at = (at + 1) & map->mask;
    if (!map->slots[at].key)
        map->used++;
    map->slots[at].key = key;
    map->slots[at].value = value;
    map->slots[at].object = ICECORE_NONE;
    return &map->slots[at];
}

void
ice_map_forget(ice_map *map)
{
    if (map->mask > KEPT || (map->mask > FEW && map->used < map->mask / 16)) {
        ice_map_free(map);
        return;
    }
    memset(map->slots, 0, ((size_t)map->mask + 1) * sizeof(ice_slot));
    map->used = 0;
}

void
ice_map_free(ice_map *map)
{
    ice_host_free(map->slots);
    map->slots = NULL;
    map->mask = map->used = 0;
}
