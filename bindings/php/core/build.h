/* Builds PHP's values from the engine's tape.
 *
 * Each value is made where it stays: in the slot of a list, a table or a property. Sizes are
 * known in advance, so no slot moves, and a link can refer to the slot of its target. The
 * loop has a stack of its own. Unfinished values are always in a state that PHP can free.
 * Hooks run after all values are built, in PHP's order.
 *
 *   build.c         the loop
 *   build_frames.c  open containers
 *   build_leaf.h    values without children
 *   build_flat.c    objects and arrays that resemble earlier ones
 *   build_object.c  objects: their properties, and what happens when one is complete
 *   build_opaque.c  enum cases and `C:` objects
 *   build_links.c   links, aliases, and the values that they refer to
 *
 * In these files, `dest` is the zval that receives a value. If it is a typed property, `type`
 * is that property; otherwise `type` is NULL. A function that builds a value returns false if
 * an exception was thrown or PHP refuses the value. The builder then has the failed node. */
#ifndef ICE_BUILD_H
#define ICE_BUILD_H
#include "core/memory.h"
#include "core/scan.h"

/* Kinds of frames. */
enum {
    ICE_BUILD_LIST,        /* a packed array */
    ICE_BUILD_MAP,         /* an array with keys */
    ICE_BUILD_SHAPE,       /* an array whose keys were copied from its shape: only its values are built */
    ICE_BUILD_SLOTS,       /* declared properties of an object */
    ICE_BUILD_MEMBERS,     /* properties of an object whose class declares none */
    ICE_BUILD_TABLE,       /* properties, set in the object's hash table */
    ICE_BUILD_UNSERIALIZE, /* the array for __unserialize */
    ICE_BUILD_SET_STATE,   /* the array for __set_state */
    ICE_BUILD_RECORD       /* the properties of an Icecore\Record */
};

typedef struct {
    ice_context *ctx;
    const ice_read_settings *settings;
    const icecore_node *nodes;
    uint32_t failed_node;      /* the node that is being built; after a failure, the refused node */
    uintptr_t last_shape_data; /* address of the buckets of the last array that was built from a shape */
    uint32_t class_id;
    ice_class *class;          /* the class with this id: that of the last object */
    bool has_other_name;       /* the class declares the last property with another visibility than the data */
} ice_builder;

/* Issues PHP's warnings about the integers before this node that were cut to 64 bits. Is called
 * before a message about this node, because PHP issues these warnings earlier than the message.
 * If `includes_node` is true, the value of the node itself is included. */
static inline void
ice_build_warn_wide(ice_builder *b, uint32_t node, bool includes_node)
{
    if (UNEXPECTED(b->settings->wide_scan != NULL))
        ice_scan_warn_wide(b->settings->wide_scan, node, includes_node);
}

/* ---- links -------------------------------------------------------------- */

/* Records the place of the value of a node to which a link may refer. The value must be there. */
void ice_build_add_target(ice_builder *b, uint32_t node, zval *place);
/* Records that the value of a node is in a typed property. */
void ice_build_set_target_type(ice_builder *b, uint32_t node, zend_property_info *type);
/* Builds a link, an alias or a copy. */
bool ice_build_link(ice_builder *b, const icecore_node *node, zval *dest);

/* ---- values that resemble earlier ones --------------------------------- */

/* Makes an object of a class of which one was built before. Fills its slots from node
 * `*node_index` on, as long as the nodes are leaves with the keys of the last object, in its
 * order. `*node_index` receives the first node that was not used, and `built_count` the number of
 * filled slots. */
zend_object *ice_build_slots(ice_builder *b, ice_class *class, uint32_t *node_index, uint32_t end,
                             uint32_t *built_count);
typedef enum {
    ICE_SHAPE_UNKNOWN, /* no array with these keys is known: nothing was built */
    ICE_SHAPE_BUILT,   /* the array is complete */
    ICE_SHAPE_OPENED   /* the keys are built, and a frame for the values was pushed */
} ice_shape_result;
/* Builds an array by copying the shape of an earlier array with the same keys. */
ice_shape_result ice_build_from_shape(ice_builder *b, uint32_t node_index, zval *dest, zend_property_info *type);
/* Remembers the shape of an array that is complete. */
void ice_build_remember_shape(ice_builder *b, const ice_build_frame *frame);

/* ---- objects ------------------------------------------------------------ */

/* Begins an object. Pushes a frame, unless the object is complete. */
bool ice_build_object(ice_builder *b, uint32_t node_index, zval *dest, zend_property_info *type);
/* Finds or creates a property of the frame's object as PHP does, and returns the zval for its
 * value. `type` receives the property if it is typed. Returns NULL if it can't be set. */
zval *ice_build_property(ice_builder *b, ice_build_frame *frame, zend_string *key, zend_property_info **type);
/* Removes the value of a slot before a new one is stored. */
void ice_build_clear_slot(ice_builder *b, zval *slot, zend_property_info *type);
/* Schedules the hook of an object or array that is complete. */
void ice_build_end_object(ice_builder *b, const ice_build_frame *frame);
/* Builds a `C:` object. */
bool ice_build_opaque(ice_builder *b, uint32_t node_index, zval *dest);
bool ice_build_enum_case(ice_builder *b, const icecore_node *node, zval *dest);
/* Checks the complete value of a typed property. If a link may refer to the value, records
 * its type. */
bool ice_build_finish_typed(ice_builder *b, uint32_t node_index, zval *dest, zend_property_info *type);
/* Returns true if the type of a property allows the value; otherwise frees the value. */
bool ice_build_check_type(ice_builder *b, zend_property_info *type, zval *value);
/* Frees a value at the end of the call, because that may run destructors of the program. */
void ice_build_free_late(ice_builder *b, zval *value);
/* Pushes a frame for the container at `node`, whose contents begin at `first`. The caller
 * sets its table or its object. */
ice_build_frame *ice_build_push_frame(ice_builder *b, uint8_t kind, uint32_t node, uint32_t first, zval *dest,
                                      zend_property_info *type);

#endif
