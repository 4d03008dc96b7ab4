/* Walks PHP's values and fills the engine's tape.
 *
 * Objects, and arrays from some depth on, have frames on a stack; other arrays are walked by
 * recursion. A frame owns references to its container, because hooks may change or free
 * anything. Objects and PHP references are looked up by address only if several places may
 * refer to them. As in PHP, the reference count decides about this.
 *
 *   walk.c         the loop: arrays, and values of any type
 *   walk_frames.c  open containers
 *   walk_parts.c   writes the nodes so far as a part of the output
 *   walk_leaf.h    leaves and keys
 *   walk_runs.h    consecutive values that need no frame
 *   walk_class.c   what is remembered about a class whose objects are written
 *   walk_slots.c   objects that have only declared properties
 *   walk_object.c  objects: chooses how one is serialized
 *   walk_sleep.c   the properties that __sleep names
 *
 * In these files, `key` is the id of the node's key, as in common/ice_tape.h. A function that
 * pushes a value returns false if the walk stops, and then the walker has the reason. */
#ifndef ICE_WALK_H
#define ICE_WALK_H
#include "core/icecore_php.h"
#if PHP_VERSION_ID >= 80400
#  include "zend_lazy_objects.h"
#endif

/* Kinds of frames. */
enum {
    ICE_WALK_LIST,        /* an array whose keys are 0, 1, 2 and so on */
    ICE_WALK_MAP,         /* any other array */
    ICE_WALK_SLOTS,       /* declared properties of an object */
    ICE_WALK_TABLE,       /* a hash table of properties */
    ICE_WALK_HOOK_RESULT, /* the array that __serialize returned */
    ICE_WALK_NAMES,       /* the names of properties that __sleep returned, for igbinary */
    ICE_WALK_VARIABLES    /* the variables of a session */
};

typedef struct {
    ice_context *ctx;
    icecore_context *engine;
    icecore_tape *tape;
    const icecore_stage *stage;
    uint8_t purpose;             /* one of ICE_FOR_ */
    bool has_called_hooks;
    uint32_t part_end;           /* a tape with this many nodes is written as a part of the output */
    ice_walk_result stop_reason; /* ICE_DONE while the walk is not stopped */
    bool engine_keeps_text;      /* the text of the parts stays in the engine */
    uint32_t written_node_count; /* number of nodes in the parts that are written */
    uint32_t recursion_depth;    /* number of open arrays without a frame on the stack */
    uint32_t part_count;
} ice_walker;

/* Returns true if the output is PHP's own serialized text. */
static inline bool
ice_walk_writes_php_text(const ice_walker *w)
{
    return w->purpose <= ICE_FOR_SESSION;
}

/* Returns the number of the next node, including those in the parts that are written. */
static inline uint32_t
ice_walk_next_node(const ice_walker *w)
{
    return w->written_node_count + (uint32_t)w->tape->node_count;
}

/* Pushes an object. Pushes a frame, unless the object is complete. */
bool ice_walk_object(ice_walker *w, zend_object *object, uint16_t key);
/* Returns what is remembered about a class, and collects it at its first object. Valid until
 * another class is added. */
ice_written_class *ice_walk_class_info(ice_walker *w, zend_class_entry *ce);
/* Returns true if the program has a class that implements Serializable only, whose objects only
 * PHP's own serializer can write. If so, PHP must write all values that have hooks. The walk may
 * find such an object after the first hook has run. PHP would then have to begin again, but no
 * hook may run twice. */
bool ice_walk_has_serializable_class(void);
/* Returns true if the object has only its declared properties, in their slots. PHP makes a hash
 * table of properties when it is first used. It begins with the slots, in the same order. */
static inline bool
ice_walk_has_slots_only(const zend_object *object, const ice_written_class *class_info)
{
#if PHP_VERSION_ID >= 80400
    if (zend_object_is_lazy((zend_object *)object))
        return false;
#endif
    return !object->handlers->get_properties_for && object->handlers->get_properties == zend_std_get_properties &&
           (!object->properties || object->properties->nNumUsed == class_info->slot_count);
}

/* Returns true if properties without a value are written. igbinary counts them, and writes null
 * for each. */
static inline bool
ice_walk_writes_unset(const ice_walker *w)
{
    return w->purpose == ICE_FOR_IGBINARY;
}

/* Returns the entry for a class in written_class_cache. The entry may have another class. The
 * cache has only classes whose objects are written without a call of their methods. */
static inline const ice_written_class **
ice_walk_cache_entry(ice_context *ctx, const zend_class_entry *ce)
{
    const uintptr_t bits = (uintptr_t)ce;
    return &ctx->written_class_cache[(bits >> 5 ^ bits >> 10) % ICE_WRITTEN_CLASS_CACHE_SIZE];
}

/* Pushes an object of such a class for which ice_walk_has_slots_only returned true. */
bool ice_walk_slots(ice_walker *w, zend_object *object, uint16_t key, const ice_written_class *class_info);

/* Pushes the two nodes that begin an object: the object, and the map that is its body. */
static inline void
ice_walk_push_header(ice_walker *w, uint16_t key, uint32_t class_id)
{
    ice_push(w->engine, w->tape, ICECORE_OBJECT, 0, key, 1, ICE_CLASS(class_id));
    ice_push(w->engine, w->tape, ICECORE_MAP, 0, 0, 0, 0);
}

/* Returns the properties that __sleep names, with their values. Returns NULL if an exception was
 * thrown. */
HashTable *ice_walk_sleep(zend_object *object, HashTable *names);
/* Returns the value that igbinary writes for a name that __sleep returned. `written_name` receives
 * the name that it writes, with a reference. Returns NULL if an exception was thrown. */
zval *ice_walk_named_property(zend_object *object, HashTable *properties, zend_string *name,
                              zend_string **written_name);
/* Issues igbinary's notice about a result of __sleep that is not a list of names. Returns false if
 * this threw an exception. */
bool ice_walk_warn_no_names(void);
/* Pushes a frame for an array, or for an object whose body is at `node`. Announces its number of
 * entries in the node. The frame takes over the caller's references to the table and the object,
 * each of which may be NULL. */
ice_walk_frame *ice_walk_push_frame(ice_walker *w, uint8_t kind, size_t node, HashTable *table, zend_object *object,
                                     uint32_t announced_count);
/* Pushes null in the place of a container that contains itself. */
void ice_walk_push_recursion(ice_walker *w, uint16_t key);
/* Writes the nodes so far as a part of the output, and empties the tape. */
bool ice_walk_write_part(ice_walker *w);
/* Ends a container that is complete, and releases its frame. */
bool ice_walk_end_frame(ice_walker *w, ice_walk_frame *frame);
/* Does the same for the innermost frame on the stack. */
bool ice_walk_pop_frame(ice_walker *w);
/* Releases the references of a frame. */
void ice_walk_release_frame(ice_walk_frame *frame);
/* Releases all frames on the stack, without ending their containers. */
void ice_walk_drop_frames(ice_walker *w);

/* Stops the walk. Returns false, for callers that return the result. */
static inline bool
ice_walk_stop(ice_walker *w, ice_walk_result reason)
{
    w->stop_reason = reason;
    return false;
}

#endif
