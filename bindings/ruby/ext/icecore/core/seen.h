/* The objects that a walk has met, and their nodes.
 *
 * The objects are in a list, in the order in which they were met. Each 64-KB region of memory
 * that contains such objects has a table. The table has a position in the list for each
 * possible address of an object. A position counts only if the list has that object there, so a
 * table is never cleared: when the list is emptied, all positions become invalid. An object
 * needs no hashing, because its address is the index in the table. While the list is short, it
 * is searched linearly instead. */
#ifndef ICE_SEEN_H
#define ICE_SEEN_H
#include <ruby.h>
#include <stdbool.h>
#include "common/ice_host.h"

#define ICE_SEEN_SLOT_BYTES 40 /* the addresses of two Ruby objects differ by at least this */
#define ICE_SEEN_REGION_BITS 16
#define ICE_SEEN_REGION_SLOTS ((1u << ICE_SEEN_REGION_BITS) / ICE_SEEN_SLOT_BYTES + 1)
#define ICE_SEEN_LINEAR_MAX 12 /* up to this length the list is searched linearly */

typedef struct {
    VALUE object;
    uint32_t node;
} ice_seen_object;

typedef struct {
    uintptr_t region;    /* the upper bits of its addresses, plus 1; 0 if this entry is free */
    uint32_t *positions; /* ICE_SEEN_REGION_SLOTS positions in the list of objects */
} ice_seen_region_table;

typedef struct {
    ice_seen_object *objects;
    uint32_t count, capacity;
    ice_seen_region_table *regions; /* a hash table with open addressing */
    uint32_t region_mask; /* size - 1; 0 until memory is allocated */
    uint32_t region_count;
    ice_seen_region_table last_region; /* a copy of the table that was used last */
} ice_seen;

/* Enters all objects of the list in the tables of their regions. */
void ice_seen_index_all(ice_seen *seen);
/* Makes room for more objects in the list. */
void ice_seen_grow(ice_seen *seen);
/* Returns the positions of a region. If it has no table, creates one if `may_add`, otherwise
 * returns NULL. */
uint32_t *ice_seen_find_region(ice_seen *seen, uintptr_t region, bool may_add);
/* Removes all objects, and frees memory that is too large to be kept for the next call. */
void ice_seen_clear(ice_seen *seen);
void ice_seen_free(ice_seen *seen);

/* Returns the index of an object in the table of its region. Two objects are at least
 * ICE_SEEN_SLOT_BYTES apart, so each has an index of its own. */
static inline uint32_t
ice_seen_slot(VALUE object)
{
    return (uint32_t)((object & ((1u << ICE_SEEN_REGION_BITS) - 1)) / ICE_SEEN_SLOT_BYTES);
}

/* Returns the positions of the region that an object is in. See ice_seen_find_region. */
static inline uint32_t *
ice_seen_region_positions(ice_seen *seen, VALUE object, bool may_add)
{
    /* The 1 is added because 0 marks a free entry. */
    const uintptr_t region = ((uintptr_t)object >> ICE_SEEN_REGION_BITS) + 1;
    if (ICE_LIKELY(seen->last_region.region == region))
        return seen->last_region.positions;
    return ice_seen_find_region(seen, region, may_add);
}

/* Returns an object that was met, or NULL. The result is valid until an object is added. */
static inline const ice_seen_object *
ice_seen_find(ice_seen *seen, VALUE object)
{
    const uint32_t count = seen->count;
    uint32_t *positions, position;
    if (count <= ICE_SEEN_LINEAR_MAX) {
        for (position = 0; position < count; position++)
            if (seen->objects[position].object == object)
                return &seen->objects[position];
        return NULL;
    }
    positions = ice_seen_region_positions(seen, object, false);
    if (!positions)
        return NULL;
    /* The position may be left from an earlier list, so it is compared with this one. */
    position = positions[ice_seen_slot(object)];
    return position < count && seen->objects[position].object == object ? &seen->objects[position] : NULL;
}

/* Adds an object that was not met before. */
static inline void
ice_seen_add(ice_seen *seen, VALUE object, uint32_t node)
{
    if (ICE_UNLIKELY(seen->count == seen->capacity))
        ice_seen_grow(seen);
    /* This object makes the list too long for linear search, so all objects need a position. */
    if (seen->count >= ICE_SEEN_LINEAR_MAX) {
        if (seen->count == ICE_SEEN_LINEAR_MAX)
            ice_seen_index_all(seen);
        ice_seen_region_positions(seen, object, true)[ice_seen_slot(object)] = seen->count;
    }
    seen->objects[seen->count].object = object;
    seen->objects[seen->count].node = node;
    seen->count++;
}

#endif
