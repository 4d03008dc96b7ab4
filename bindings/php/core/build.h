/* The engine's tape to PHP's values.
 *
 * Values are made where they stay: in the slot of a list, of a table or of a property, so
 * that what links name is a place. Nothing is moved, as the counts are known. Loops have
 * a stack of their own; what is half done is always a value that PHP can free. Hooks run
 * when all is there, in the order in which PHP runs them.
 *
 *   build.c         the loop
 *   build_frames.c  what is open
 *   build_leaf.h    values without children
 *   build_flat.c    containers of leaves
 *   build_object.c  objects: their properties, what is done when one is complete
 *   build_opaque.c  enum cases, and what a class froze itself
 *   build_links.c   places that are named, links and aliases
 */
#ifndef ICE_BUILD_H
#define ICE_BUILD_H
#include "core/memory.h"
#include "core/scan.h"

enum {
    B_LIST,    /* a packed array */
    B_MAP,     /* an array with keys */
    B_ROW,     /* one whose keys are there already */
    B_SLOTS,   /* properties that are declared */
    B_MEMBERS, /* properties of an object that declares none */
    B_TABLE,   /* properties, as PHP sets them */
    B_ARRAY,   /* what __unserialize gets */
    B_STATE,   /* what __set_state gets */
    B_RECORD   /* the properties of an Icecore\Record */
};

typedef struct {
    ice_context *ctx;
    const ice_read_settings *settings;
    const icecore_node *nodes;
    uint32_t failed; /* the node that PHP refuses */
    uintptr_t row_data; /* where the last row stands */
    uint32_t class_id;
    ice_class *class; /* the one with this id: of the last object */
} ice_builder;

/* What is told from now on stands behind this node: PHP has warned of the integers before
 * it that were cut to 64 bits. `is_behind`: of that at the node, too. */
static inline void
ice_build_say(ice_builder *b, uint32_t node, bool is_behind)
{
    if (UNEXPECTED(b->settings->wide != NULL))
        ice_scan_say_wide(b->settings->wide, node, is_behind);
}

/* ---- places ------------------------------------------------------------- */

/* Notes where the value of a node stands. */
void ice_build_target(ice_builder *b, uint32_t node, zval *place);
/* The property that a value belongs to, once it is there. */
void ice_build_typed_target(ice_builder *b, uint32_t node, zend_property_info *type);
/* A link, an alias or a copy. */
bool ice_build_link(ice_builder *b, const icecore_node *node, zval *to);

/* ---- containers of leaves ---------------------------------------------- */

/* A new object of a class that was made before, with the leaves from `*at` on as long as they
 * are the properties that the last one had: `*at` gets the first node that is not there, and
 * `index` how many were. */
zend_object *ice_build_slots(ice_builder *b, ice_class *class, uint32_t *at, uint32_t end, uint32_t *index);
/* An array with keys, if one with the same keys was built. Open: its values follow. */
typedef enum { ICE_NO_ROW, ICE_ROW_BUILT, ICE_ROW_OPEN } ice_row_built;
ice_row_built ice_build_row(ice_builder *b, uint32_t at, zval *to, zend_property_info *type);
/* Remembers the keys of an array whose frame ends. */
void ice_build_learn_row(ice_builder *b, const ice_build_frame *frame);

/* ---- objects ------------------------------------------------------------ */

/* Begins an object, whose frame is pushed if it has anything in it. */
bool ice_build_object(ice_builder *b, uint32_t at, zval *to, zend_property_info *type);
/* The place of a property in the frame's object, as PHP finds it; `type` gets its type.
 * NULL: it can't be set. */
zval *ice_build_property(ice_builder *b, ice_build_frame *frame, zend_string *key, zend_property_info **type);
/* A slot before it gets its value. */
void ice_build_clear_slot(ice_builder *b, zval *slot, zend_property_info *type);
/* What is done when all is in it. */
void ice_build_end_object(ice_builder *b, const ice_build_frame *frame);
bool ice_build_opaque(ice_builder *b, uint32_t at, zval *to);
bool ice_build_enum_case(ice_builder *b, const icecore_node *node, zval *to);
/* The value of a property, which has all that is in it: checked, and noted if a link names it. */
bool ice_build_end_typed(ice_builder *b, uint32_t at, zval *to, zend_property_info *type);
/* Checks the value of a property; undoes it if the type refuses. */
bool ice_build_check_type(ice_builder *b, zend_property_info *type, zval *value);
/* Frees a value when the call ends, as code of the program may run then. */
void ice_build_free_late(ice_builder *b, zval *value);
/* Opens the container at `node`, whose content begins at `first`; it has no table and no object yet. */
ice_build_frame *ice_build_push(ice_builder *b, uint8_t kind, uint32_t node, uint32_t first, zval *to,
                                zend_property_info *type);

#endif
