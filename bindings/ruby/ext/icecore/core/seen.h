/* The objects that were met in a walk, and their nodes.
 *
 * The objects are in a list in the order of the walk. Each region of 64 KB that contains
 * objects has a table of indexes in that list. A table is never cleared: an index is
 * valid only if the list has the object there. So nothing is hashed for an object, and
 * forgetting everything means emptying the list. The first few objects are searched
 * linearly. */
#ifndef ICE_SEEN_H
#define ICE_SEEN_H
#include <ruby.h>
#include <stdbool.h>
#include "common/ice_host.h"

/* Two Ruby objects are never closer to each other. */
#define ICE_SLOT 40
#define ICE_REGION_BITS 16
#define ICE_REGION_SLOTS ((1u << ICE_REGION_BITS) / ICE_SLOT + 1)
#define ICE_FEW_SEEN 12

typedef struct {
    VALUE object;
    uint32_t node;
} ice_seen_object;

typedef struct {
    uintptr_t region; /* upper bits of its addresses, plus 1; 0: free */
    uint32_t *places;
} ice_region;

typedef struct {
    ice_seen_object *objects;
    uint32_t count, room;
    ice_region *regions;  /* open addressing */
    uint32_t region_mask; /* size - 1; 0: nothing allocated */
    uint32_t region_count;
    ice_region last;      /* the last one that was used */
} ice_seen;

void ice_seen_put_all(ice_seen *seen);
void ice_seen_more(ice_seen *seen);
uint32_t *ice_seen_find_region(ice_seen *seen, uintptr_t region, bool may_add);
/* Forgets all objects; frees memory beyond what is kept from call to call. */
void ice_seen_clear(ice_seen *seen);
void ice_seen_free(ice_seen *seen);

static inline uint32_t
ice_seen_slot(VALUE object)
{
    return (uint32_t)((object & ((1u << ICE_REGION_BITS) - 1)) / ICE_SLOT);
}

static inline uint32_t *
ice_seen_region(ice_seen *seen, VALUE object, bool may_add)
{
    const uintptr_t region = ((uintptr_t)object >> ICE_REGION_BITS) + 1;
    if (ICE_LIKELY(seen->last.region == region))
        return seen->last.places;
    return ice_seen_find_region(seen, region, may_add);
}

/* Returns NULL if the object was not met. Valid until something is added. */
static inline const ice_seen_object *
ice_seen_find(ice_seen *seen, VALUE object)
{
    const uint32_t count = seen->count;
    uint32_t *places, place;
    if (count <= ICE_FEW_SEEN) {
        for (place = 0; place < count; place++)
            if (seen->objects[place].object == object)
                return &seen->objects[place];
        return NULL;
    }
    places = ice_seen_region(seen, object, false);
    if (!places)
        return NULL;
    place = places[ice_seen_slot(object)];
    return place < count && seen->objects[place].object == object ? &seen->objects[place] : NULL;
}

/* Adds an object that was not met before. */
static inline void
ice_seen_add(ice_seen *seen, VALUE object, uint32_t node)
{
    if (ICE_UNLIKELY(seen->count == seen->room))
        ice_seen_more(seen);
    if (seen->count >= ICE_FEW_SEEN) {
        if (seen->count == ICE_FEW_SEEN)
            ice_seen_put_all(seen);
        ice_seen_region(seen, object, true)[ice_seen_slot(object)] = seen->count;
    }
    seen->objects[seen->count].object = object;
    seen->objects[seen->count].node = node;
    seen->count++;
}

#endif
