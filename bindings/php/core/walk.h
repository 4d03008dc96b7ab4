/* Walks PHP's values and fills the engine's tape.
 *
 * Objects, and arrays from some depth on, have a stack of their own; other arrays are
 * walked by recursion. Open containers are held, because hooks may change or free
 * anything. Objects and references are looked up by address only if something else may
 * refer to them; as in PHP, the reference counts tell.
 *
 *   walk.c         arrays, any value, the loop
 *   walk_frames.c  open containers
 *   walk_parts.c   writes the nodes so far from time to time
 *   walk_leaf.h    leaves and keys
 *   walk_runs.h    runs of values that need no frame
 *   walk_class.c   the facts about a class that is written
 *   walk_slots.c   objects that have only declared properties
 *   walk_object.c  objects: chooses the way to freeze one
 *   walk_sleep.c   the properties that __sleep names
 */
#ifndef ICE_WALK_H
#define ICE_WALK_H
#include "core/icecore_php.h"
#if PHP_VERSION_ID >= 80400
#  include "zend_lazy_objects.h"
#endif

enum {
    W_LIST,    /* an array whose keys are 0, 1, 2 and so on */
    W_MAP,     /* any other */
    W_SLOTS,   /* declared properties */
    W_TABLE,   /* a table of properties */
    W_RESULT,  /* the result of __serialize */
    W_PAIRS,   /* names and values, alternating */
    W_VARIABLES /* the variables of a session */
};

typedef struct {
    ice_context *ctx;
    icecore_context *engine;
    icecore_tape *tape;
    const icecore_stage *stage;
    uint8_t purpose;
    bool hooks_ran;
    uint32_t part;      /* the node count at which the tape is handed over */
    ice_walked stopped; /* ICE_WALKED: not stopped */
    bool keeps_text;    /* the engine keeps the text */
    uint32_t base;      /* number of nodes that were handed over */
    uint32_t direct;    /* number of open arrays without a frame on the stack */
    uint32_t parts;
} ice_walker;

/* Returns the number of the next node, including the nodes that were handed over. */
static inline uint32_t
ice_walk_next(const ice_walker *w)
{
    return w->base + (uint32_t)w->tape->node_count;
}

/* Pushes an object; its frame is opened unless it is a leaf. False: the walk stops. */
bool ice_walk_object(ice_walker *w, zend_object *object, uint16_t key);
/* Returns the facts about a class, and collects them at its first object. Valid until
 * another class is added. */
ice_written *ice_walk_class(ice_walker *w, zend_class_entry *ce);
/* Whether the program has a class that freezes itself as text. Then PHP itself writes
 * values with hooks: such an object may come after one whose hook ran, and no hook may
 * run twice. */
bool ice_walk_left_to_php(void);
/* Whether the object has only its declared properties, in their slots. A table of
 * properties begins with these, in the same order; PHP makes it when it is first used. */
static inline bool
ice_walk_has_slots_only(const zend_object *object, const ice_written *written)
{
#if PHP_VERSION_ID >= 80400
    if (zend_object_is_lazy((zend_object *)object))
        return false;
#endif
    return !object->handlers->get_properties_for && object->handlers->get_properties == zend_std_get_properties &&
           (!object->properties || object->properties->nNumUsed == written->count);
}

/* Whether properties without a value are written: igbinary counts them, and writes null
 * for each. */
static inline bool
ice_walk_has_holes(const ice_walker *w)
{
    return w->purpose == ICE_FOR_IGBINARY;
}

/* Returns the cache entry of a class whose objects are written without calling any of
 * their methods. */
static inline const ice_written **
ice_walk_near(ice_context *ctx, const zend_class_entry *ce)
{
    const uintptr_t bits = (uintptr_t)ce;
    return &ctx->near_written[(bits >> 5 ^ bits >> 10) & 15];
}

/* Pushes an object of such a class that has only its slots. */
bool ice_walk_slots(ice_walker *w, zend_object *object, uint16_t key, const ice_written *written);

/* Pushes the front of an object. */
static inline void
ice_walk_begin(ice_walker *w, uint16_t key, uint32_t class)
{
    ice_push(w->engine, w->tape, ICECORE_OBJECT, 0, key, 1, ICE_CLASS(class));
    ice_push(w->engine, w->tape, ICECORE_MAP, 0, 0, 0, 0);
}

/* Returns the properties that __sleep names, with their values. NULL: an exception was
 * thrown. */
HashTable *ice_walk_sleep(zend_object *object, HashTable *names, uint8_t purpose);
/* Pushes a frame for the container or the body of an object at `node`, which will have
 * `total` entries. The frame owns the table and the object from now on. */
ice_walk_frame *ice_walk_push(ice_walker *w, uint8_t kind, size_t node, HashTable *table, zend_object *object,
                              uint32_t total);
/* Pushes null for a container that contains itself. */
void ice_walk_circle(ice_walker *w, uint16_t key);
/* Writes the nodes so far and empties the tape. False: the walk stops. */
bool ice_walk_hand_over(ice_walker *w);
/* Ends a container that is complete. */
bool ice_walk_end(ice_walker *w, ice_walk_frame *frame);
/* The same for the innermost frame. */
bool ice_walk_pop(ice_walker *w);
/* Releases what a frame holds. */
void ice_walk_release(ice_walk_frame *frame);
/* Drops all frames. */
void ice_walk_drop(ice_walker *w);

static inline bool
ice_walk_stop(ice_walker *w, ice_walked why)
{
    w->stopped = why;
    return false;
}

#endif
