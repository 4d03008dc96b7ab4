/* Builds PHP's values from the engine's tape.
 *
 * Values are made where they stay: in the slot of a list, a table or a property. So a
 * link can refer to a place, and nothing is moved, because the counts are known. Loops
 * have a stack of their own. Unfinished values are always in a state that PHP can free.
 * Hooks run when everything is built, in PHP's order.
 *
 *   build.c         the loop
 *   build_frames.c  open containers
 *   build_leaf.h    values without children
 *   build_flat.c    containers of leaves
 *   build_object.c  objects: their properties, and the steps when one is complete
 *   build_opaque.c  enum cases, and objects that their class froze itself
 *   build_links.c   link targets, links and aliases
 */
#ifndef ICE_BUILD_H
#define ICE_BUILD_H
#include "core/memory.h"
#include "core/scan.h"

enum {
    B_LIST,    /* a packed array */
    B_MAP,     /* an array with keys */
    B_ROW,     /* an array whose keys exist already */
    B_SLOTS,   /* declared properties */
    B_MEMBERS, /* properties of an object that declares none */
    B_TABLE,   /* properties, set as PHP does */
    B_ARRAY,   /* the array for __unserialize */
    B_STATE,   /* the array for __set_state */
    B_RECORD   /* the properties of an Icecore\Record */
};

typedef struct {
    ice_context *ctx;
    const ice_read_settings *settings;
    const icecore_node *nodes;
    uint32_t failed; /* the node that PHP refuses */
    uintptr_t row_data; /* address of the last row */
    uint32_t class_id;
    ice_class *class; /* the class with this id, of the last object */
} ice_builder;

/* Tells the scan that the next message is about this node: PHP has warned of the
 * integers before it that were cut to 64 bits. `is_behind`: of the one at the node too. */
static inline void
ice_build_say(ice_builder *b, uint32_t node, bool is_behind)
{
    if (UNEXPECTED(b->settings->wide != NULL))
        ice_scan_say_wide(b->settings->wide, node, is_behind);
}

/* ---- link targets ------------------------------------------------------- */

/* Registers the place of the value of a node. */
void ice_build_target(ice_builder *b, uint32_t node, zval *place);
/* Registers the property that a value belongs to, after the value was built. */
void ice_build_typed_target(ice_builder *b, uint32_t node, zend_property_info *type);
/* Builds a link, an alias or a copy. */
bool ice_build_link(ice_builder *b, const icecore_node *node, zval *to);

/* ---- containers of leaves ---------------------------------------------- */

/* Makes an object of a class that was built before, and fills its leaves from `*at` on,
 * as long as they are the same properties as in the last object. `*at` receives the
 * first node that was not used, and `index` the number of leaves. */
zend_object *ice_build_slots(ice_builder *b, ice_class *class, uint32_t *at, uint32_t end, uint32_t *index);
/* Builds an array with keys, if one with the same keys was built before. ICE_ROW_OPEN:
 * its values follow. */
typedef enum { ICE_NO_ROW, ICE_ROW_BUILT, ICE_ROW_OPEN } ice_row_built;
ice_row_built ice_build_row(ice_builder *b, uint32_t at, zval *to, zend_property_info *type);
/* Remembers the keys of an array whose frame ends. */
void ice_build_learn_row(ice_builder *b, const ice_build_frame *frame);

/* ---- objects ------------------------------------------------------------ */

/* Begins an object; a frame is pushed if the object has contents. */
bool ice_build_object(ice_builder *b, uint32_t at, zval *to, zend_property_info *type);
/* Returns the place of a property in the frame's object, as PHP finds it; `type`
 * receives its type. NULL: it can't be set. */
zval *ice_build_property(ice_builder *b, ice_build_frame *frame, zend_string *key, zend_property_info **type);
/* Prepares a slot before it gets its value. */
void ice_build_clear_slot(ice_builder *b, zval *slot, zend_property_info *type);
/* Ends an object whose contents are complete. */
void ice_build_end_object(ice_builder *b, const ice_build_frame *frame);
bool ice_build_opaque(ice_builder *b, uint32_t at, zval *to);
bool ice_build_enum_case(ice_builder *b, const icecore_node *node, zval *to);
/* Ends the value of a property, whose contents are complete: checks it, and registers it
 * if a link refers to it. */
bool ice_build_end_typed(ice_builder *b, uint32_t at, zval *to, zend_property_info *type);
/* Checks the value of a property; undoes it if the type does not allow it. */
bool ice_build_check_type(ice_builder *b, zend_property_info *type, zval *value);
/* Frees a value at the end of the call, because destructors of the program may run then. */
void ice_build_free_late(ice_builder *b, zval *value);
/* Opens the container at `node`, whose contents begin at `first`; it has no table and no
 * object yet. */
ice_build_frame *ice_build_push(ice_builder *b, uint8_t kind, uint32_t node, uint32_t first, zval *to,
                                zend_property_info *type);

#endif
