/* Marshal data in the arguments of `_load`, `marshal_load` and `_load_data`. */
#ifndef ICE_NESTED_H
#define ICE_NESTED_H
#include "core/icecore_ruby.h"

/* What the checks of all payloads of one document have found. */
typedef struct {
    VALUE *refused, *warnings; /* those of the document around the payloads */
    VALUE unlistable;      /* a Hash whose keys are names that no list can allow, or Qnil */
    VALUE fault;           /* why a payload can't be read, or Qnil */
    VALUE fault_path;
    VALUE checked_offsets; /* a Hash whose keys are the offsets of shared payloads that were checked, or Qnil */
    ice_context *ctx;      /* that of the document around the payloads */
    uint32_t node;         /* the payload that is being checked */
} ice_nested_check;

/* Checks the payload of the hook at a node if it is Marshal data. `builtin_kind` is the kind
 * if the node's class is one of Ruby's own, otherwise ICE_CLASS_UNKNOWN. */
void ice_nested_check_node(ice_nested_check *check, ice_context *ctx, const ice_class_rules *rules,
                           const icecore_node *node, uint8_t builtin_kind);
/* Raises if a payload could not be read. */
void ice_nested_raise(const ice_nested_check *check);
/* Returns true if a document is an array of plain numbers, as the data of a Date or DateTime
 * is. */
bool ice_has_date_fields(const icecore_view *view);

/* Defined in dates.c. Returns the array of numbers that Date._load would read from its bytes.
 * `build` is ice_build. It is an argument, because the build itself calls this function, and files
 * must not call each other in a circle. */
typedef VALUE (*ice_build_function)(ice_context *ctx, const ice_read_settings *settings);
VALUE ice_date_fields(VALUE text, ice_build_function build);

#endif
