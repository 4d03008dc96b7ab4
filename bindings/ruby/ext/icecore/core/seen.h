/* Which objects were seen in a walk, and as which nodes.
 *
 * The objects stand in a list in the order in which they came. For each region of 64 KB that
 * has objects there is a table of places in that list; it is never cleared: a place counts
 * only if the list has the object there. So nothing is hashed for an object, and to forget
 * all is to empty the list. The first few are looked through one by one. */
#ifndef ICE_SEEN_H
#define ICE_SEEN_H
#include <ruby.h>
#include <stdbool.h>
#include "common/ice_host.h"

/* No two objects of Ruby's begin closer to each other. */
#define ICE_SLOT 40
#define ICE_REGION_BITS 16
#define ICE_REGION_SLOTS ((1u << ICE_REGION_BITS) / ICE_SLOT + 1)
#define ICE_FEW_SEEN 12

typedef struct {
    VALUE object;
    uint32_t node;
} ice_seen_object;

typedef struct {
    uintptr_t region; /* the upper bits of its addresses, plus 1; 0: free */
    uint32_t *places;
} ice_region;

typedef struct {
    ice_seen_object *objects;
    uint32_t count, room;
    ice_region *regions;  /* open addressing */
    uint32_t region_mask; /* size - 1; 0: nothing allocated */
    uint32_t region_count;
    ice_region last;      /* the one that was asked for last */
} ice_seen;

void ice_seen_put_all(ice_seen *seen);
void ice_seen_more(ice_seen *seen);
uint32_t *ice_seen_find_region(ice_seen *seen, uintptr_t region, bool may_add);
/* Forgets all objects; gives back what is more than is kept from call to call. */
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

/* NULL, if it was not seen. Lent until something is added. */
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

/* Adds an object that was not seen. */
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
