/* The objects that were met in a walk: the less frequent functions. */
#include "core/seen.h"
#include <string.h>
#include "common/ice_stack.h"

/* Kept from call to call: this many tables of regions, and objects. */
#define REGIONS_KEPT 1024
#define OBJECTS_KEPT 65536

void
ice_seen_more(ice_seen *seen)
{
    seen->objects = ice_stack_grow(seen->objects, &seen->room, sizeof *seen->objects, 64);
}

static ice_region *
place_of(const ice_seen *seen, uintptr_t region)
{
    uint32_t at = (uint32_t)((uint64_t)region * UINT64_C(0x9E3779B97F4A7C15) >> 40) & seen->region_mask;
    while (seen->regions[at].region && seen->regions[at].region != region)
        at = (at + 1) & seen->region_mask;
    return &seen->regions[at];
}

static void
grow(ice_seen *seen)
{
    const uint32_t old_mask = seen->region_mask, size = old_mask ? (old_mask + 1) * 2 : 64;
    ice_region *old = seen->regions, *regions = ice_host_resize(NULL, size * sizeof *regions);
    uint32_t i;
    memset(regions, 0, size * sizeof *regions);
    seen->regions = regions;
    seen->region_mask = size - 1;
    for (i = 0; old && i <= old_mask; i++)
        if (old[i].region)
            *place_of(seen, old[i].region) = old[i];
    ice_host_free(old);
}

uint32_t *
ice_seen_find_region(ice_seen *seen, uintptr_t region, bool may_add)
{
    ice_region *place;
    if (!seen->region_mask || seen->region_count * 2 > seen->region_mask) {
        if (!may_add && !seen->region_mask)
            return NULL;
        if (may_add)
            grow(seen);
    }
    place = place_of(seen, region);
    if (!place->region) {
        uint32_t *places;
        if (!may_add)
            return NULL;
        places = ice_host_resize(NULL, ICE_REGION_SLOTS * sizeof *places);
        memset(places, 0, ICE_REGION_SLOTS * sizeof *places);
        place->region = region;
        place->places = places;
        seen->region_count++;
    }
    seen->last = *place;
    return place->places;
}

void
ice_seen_put_all(ice_seen *seen)
{
    uint32_t i;
    for (i = 0; i < seen->count; i++)
        ice_seen_region(seen, seen->objects[i].object, true)[ice_seen_slot(seen->objects[i].object)] = i;
}

static void
free_regions(ice_seen *seen)
{
    uint32_t i;
    for (i = 0; seen->regions && i <= seen->region_mask; i++)
        ice_host_free(seen->regions[i].places);
    ice_host_free(seen->regions);
    seen->regions = NULL;
    seen->region_mask = seen->region_count = 0;
    seen->last = (ice_region){ 0, NULL };
}

void
ice_seen_clear(ice_seen *seen)
{
    seen->count = 0;
    if (seen->room > OBJECTS_KEPT) {
        ice_host_free(seen->objects);
        seen->objects = NULL;
        seen->room = 0;
    }
    if (seen->region_count > REGIONS_KEPT)
        free_regions(seen);
}

void
ice_seen_free(ice_seen *seen)
{
    ice_host_free(seen->objects);
    seen->objects = NULL;
    seen->count = seen->room = 0;
    free_regions(seen);
}
