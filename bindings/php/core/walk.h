/* PHP's values to the engine's tape.
 *
 * Loops have a stack of their own. What is open is held, as hooks may change or free
 * anything. Objects and references are looked up by their address only if something else
 * may lead to them, as in PHP: its counts tell.
 *
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
    ice_walked stopped; /* ICE_WALKED: not at all */
} ice_walker;

/* Pushes an object, whose frame is opened unless it is a leaf. False: the walk stops. */
bool ice_walk_object(ice_walker *w, zend_object *object, uint16_t key);
/* The properties that __sleep names, with their values. NULL: an exception was thrown. */
HashTable *ice_walk_sleep(zend_object *object, HashTable *names);
/* A frame for a container, whose node was pushed last; `wraps` nodes before it end with
 * it. The table is the frame's from now on. */
ice_walk_frame *ice_walk_push(ice_walker *w, uint8_t kind, HashTable *table, zend_object *object, uint32_t wraps);

static inline bool
ice_walk_stop(ice_walker *w, ice_walked why)
{
    w->stopped = why;
    return false;
}

#endif
