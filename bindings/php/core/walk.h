/* PHP's values to the engine's tape.
 *
 * Loops have a stack of their own. What is open is held, as hooks may change or free
 * anything. Objects and references are looked up by their address only if something else
 * may lead to them, as in PHP: its counts tell.
 *
 *   walk_frames.c  what is open
 *   walk.c         the loop, arrays and leaves
 *   walk_object.c  objects: which of their ways to be frozen is taken
 *   walk_sleep.c   the properties that __sleep names
 */
#ifndef ICE_WALK_H
#define ICE_WALK_H
#include "core/icecore_php.h"

enum {
    W_LIST,    /* an array whose keys are 0, 1, 2 and so on */
    W_MAP,     /* any other */
    W_SLOTS,   /* declared properties */
    W_TABLE,   /* a table of properties */
    W_RESULT,  /* what __serialize returned */
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
/* Whether the object has nothing but its declared properties, in their slots. */
bool ice_walk_has_slots_only(const zend_object *object);
/* How many declared properties have a value, from this slot on. */
uint32_t ice_walk_count_slots(const zend_object *object, uint32_t at);
/* Pushes the front of an object. */
void ice_walk_begin(ice_walker *w, uint16_t key, uint32_t class);
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
