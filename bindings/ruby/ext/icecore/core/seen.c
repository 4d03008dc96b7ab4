/* The objects that a walk has met: functions that are called rarely. */
#include "core/seen.h"
#include <string.h>
#include "common/ice_stack.h"

/* Maximum number of regions and of objects whose memory is kept from call to call. */
#define MAX_KEPT_REGIONS 1024
#define MAX_KEPT_OBJECTS 65536

void
ice_seen_grow(ice_seen *seen)
{
    seen->objects = ice_stack_grow(seen->objects, &seen->capacity, sizeof *seen->objects, 64);
}

/* Returns the entry of a region, or the free entry where it belongs. At most half of the entries
 * are used, so the loop ends. The factor spreads regions that follow one another. */
static ice_seen_region_table *
find_region_slot(const ice_seen *seen, uintptr_t region)
{
    uint32_t index = (uint32_t)((uint64_t)region * UINT64_C(0x9E3779B97F4A7C15) >> 40) & seen->region_mask;
    while (seen->regions[index].region && seen->regions[index].region != region)
        index = (index + 1) & seen->region_mask;
    return &seen->regions[index];
}

/* Doubles the size of the hash table of regions. The new table is complete before the old one is
 * freed. */
static void
grow_regions(ice_seen *seen)
{
    const uint32_t old_mask = seen->region_mask, size = old_mask ? (old_mask + 1) * 2 : 64;
    ice_seen_region_table *old = seen->regions, *regions = ice_host_resize(NULL, size * sizeof *regions);
    uint32_t i;
    memset(regions, 0, size * sizeof *regions);
    seen->regions = regions;
    seen->region_mask = size - 1;
    for (i = 0; old && i <= old_mask; i++)
        if (old[i].region)
            *find_region_slot(seen, old[i].region) = old[i];
    ice_host_free(old);
}

uint32_t *
ice_seen_find_region(ice_seen *seen, uintptr_t region, bool may_add)
{
    ice_seen_region_table *slot;
    if (!seen->region_mask || seen->region_count * 2 > seen->region_mask) {
        if (!may_add && !seen->region_mask)
            return NULL;
        if (may_add)
            grow_regions(seen);
    }
    slot = find_region_slot(seen, region);
    if (!slot->region) {
        uint32_t *positions;
        if (!may_add)
            return NULL;
        /* ice_host_resize may raise, so the entry is filled only after it. */
        positions = ice_host_resize(NULL, ICE_SEEN_REGION_SLOTS * sizeof *positions);
        memset(positions, 0, ICE_SEEN_REGION_SLOTS * sizeof *positions);
        slot->region = region;
        slot->positions = positions;
        seen->region_count++;
    }
    seen->last_region = *slot;
    return slot->positions;
}

void
ice_seen_index_all(ice_seen *seen)
{
    uint32_t i;
    for (i = 0; i < seen->count; i++)
        ice_seen_region_positions(seen, seen->objects[i].object, true)[ice_seen_slot(seen->objects[i].object)] = i;
}

/* Frees all tables. */
static void
free_regions(ice_seen *seen)
{
    uint32_t i;
    /* Free entries have NULL as positions. */
    for (i = 0; seen->regions && i <= seen->region_mask; i++)
        ice_host_free(seen->regions[i].positions);
    ice_host_free(seen->regions);
    seen->regions = NULL;
    seen->region_mask = seen->region_count = 0;
    seen->last_region = (ice_seen_region_table){ 0, NULL };
}

void
ice_seen_clear(ice_seen *seen)
{
    seen->count = 0;
    if (seen->capacity > MAX_KEPT_OBJECTS) {
        ice_host_free(seen->objects);
        seen->objects = NULL;
        seen->capacity = 0;
    }
    if (seen->region_count > MAX_KEPT_REGIONS)
        free_regions(seen);
}

void
ice_seen_free(ice_seen *seen)
{
    ice_host_free(seen->objects);
    seen->objects = NULL;
    seen->count = seen->capacity = 0;
    free_regions(seen);
}
