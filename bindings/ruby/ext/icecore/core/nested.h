/* Data of Marshal in what `_load`, `marshal_load` and `_load_data` are given. */
#ifndef ICE_NESTED_H
#define ICE_NESTED_H
#include "core/icecore_ruby.h"

/* What the payloads of one document contain. */
typedef struct {
    VALUE *refused, *said; /* those of the document around them */
    VALUE without_remedy;  /* names that are refused whatever is listed, as keys; or Qnil */
    VALUE fault;           /* why a payload can't be read, or Qnil */
    VALUE fault_path;
    VALUE linked;          /* payloads that a link led to, by their place in the input; or Qnil */
    ice_context *ctx;      /* of that document */
    uint32_t node;         /* the payload that is checked */
} ice_nested_check;

/* Checks the payload of the hook at a node, if that is data of Marshal. `own`: which of
 * Ruby's own classes it is. */
void ice_nested_check_node(ice_nested_check *check, ice_context *ctx, const ice_allowed *allowed, const icecore_node *node,
                           uint8_t own);
/* Raises, if a payload can't be read. */
void ice_nested_raise(const ice_nested_check *check);
/* Whether a document is what Date and DateTime dump: an array of plain numbers. */
bool ice_has_date_fields(const icecore_view *view);

/* dates.c: what Date._load would read from its bytes, an array of numbers. `build` is
 * ice_build, which calls this. */
typedef VALUE (*ice_build_function)(ice_context *ctx, const ice_read_settings *settings);
VALUE ice_date_fields(VALUE text, ice_build_function build);

#endif
