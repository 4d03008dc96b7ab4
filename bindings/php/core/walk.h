/* PHP's values to the engine's tape.
 *
 * Loops have a stack of their own. What is open is held, as hooks may change or free
 * anything. Objects and references are looked up by their address only if something else
 * may lead to them, as in PHP: its counts tell.
 *
 *   walk_frames.c  what is open
 *   walk.c         the loop, arrays and leaves
 *   walk_class.c   what is known of a class that is written
 *   walk_slots.c   objects with nothing but declared properties
 *   walk_object.c  objects: which of their ways to be frozen is taken
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
    W_RESULT,  /* what __serialize returned */
    W_PAIRS,   /* names and values in turn */
    W_VARIABLES /* those of a session */
};

typedef struct {
    ice_context *ctx;
    icecore_context *engine;
    icecore_tape *tape;
    const icecore_stage *stage;
    uint8_t purpose;
    bool hooks_ran;
    bool hands_over;    /* what was pushed is written from time to time */
    ice_walked stopped; /* ICE_WALKED: not at all */
    uint32_t base;      /* how many nodes were handed over */
    uint32_t parts;
} ice_walker;

/* Numbers of nodes here count those that were handed over. */
static inline uint32_t
ice_walk_next(const ice_walker *w)
{
    return w->base + (uint32_t)w->tape->node_count;
}

/* Pushes an object, whose frame is opened unless it is a leaf. False: the walk stops. */
bool ice_walk_object(ice_walker *w, zend_object *object, uint16_t key);
/* What is known of a class; it is noted when it is met first. Lent until another is. */
ice_written *ice_walk_class(ice_walker *w, zend_class_entry *ce);
/* Whether the program has a class that freezes itself as text: PHP itself then writes what
 * has hooks, as such an object may come behind one whose hook ran, and no hook runs twice. */
bool ice_walk_left_to_php(void);
/* Whether the object has nothing but its declared properties, in their slots. */
static inline bool
ice_walk_has_slots_only(const zend_object *object)
{
#if PHP_VERSION_ID >= 80400
    if (zend_object_is_lazy((zend_object *)object))
        return false;
#endif
    return !object->properties && !object->handlers->get_properties_for &&
           object->handlers->get_properties == zend_std_get_properties;
}

/* Pushes such an object, of the class that was looked up last. */
bool ice_walk_slots(ice_walker *w, zend_object *object, uint16_t key);

/* Pushes the front of an object. */
static inline void
ice_walk_begin(ice_walker *w, uint16_t key, uint32_t class)
{
    ice_push(w->engine, w->tape, ICECORE_OBJECT, 0, key, 1, ICE_CLASS(class));
    ice_push(w->engine, w->tape, ICECORE_MAP, 0, 0, 0, 0);
}

/* The properties that __sleep names, with their values. NULL: an exception was thrown. */
HashTable *ice_walk_sleep(zend_object *object, HashTable *names, uint8_t purpose);
/* A frame for the container or the body of an object at `node`, which will have `total`
 * entries. The table and the object are the frame's from now on. */
ice_walk_frame *ice_walk_push(ice_walker *w, uint8_t kind, size_t node, HashTable *table, zend_object *object,
                              uint32_t total);
/* Pushes null for what is in itself. */
void ice_walk_circle(ice_walker *w, uint16_t key);
/* Ends the innermost frame. */
bool ice_walk_pop(ice_walker *w);
/* Drops all frames. */
void ice_walk_drop(ice_walker *w);

static inline bool
ice_walk_stop(ice_walker *w, ice_walked why)
{
    w->stopped = why;
    return false;
}

#endif
