/* Marshal data in the arguments of `_load`, `marshal_load` and `_load_data`. */
#ifndef ICE_NESTED_H
#define ICE_NESTED_H
#include "core/icecore_ruby.h"

/* Results for the payloads of one document. */
typedef struct {
    VALUE *refused, *said; /* those of the document around them */
    VALUE without_remedy;  /* names that are refused whatever is listed, as keys; or Qnil */
    VALUE fault;           /* why a payload can't be read, or Qnil */
    VALUE fault_path;
    VALUE linked;          /* payloads that links led to, by their place in the input; or Qnil */
    ice_context *ctx;      /* of that document */
    uint32_t node;         /* the payload that is being checked */
} ice_nested_check;

/* Checks the payload of the hook at a node, if it is Marshal data. `own`: which of
 * Ruby's own classes it belongs to. */
void ice_nested_check_node(ice_nested_check *check, ice_context *ctx, const ice_allowed *allowed, const icecore_node *node,
                           uint8_t own);
/* Raises if a payload can't be read. */
void ice_nested_raise(const ice_nested_check *check);
/* Whether a document is the dump of a Date or DateTime: an array of plain numbers. */
bool ice_has_date_fields(const icecore_view *view);

/* dates.c: returns what Date._load would read from its bytes, an array of numbers.
 * `build` is ice_build, which calls this. */
typedef VALUE (*ice_build_function)(ice_context *ctx, const ice_read_settings *settings);
VALUE ice_date_fields(VALUE text, ice_build_function build);

#endif
