/* The methods that Ruby sees. */
#ifndef ICE_FORMATS_H
#define ICE_FORMATS_H
#include "core/icecore_ruby.h"

void ice_marshal_init(void);
void ice_any_init(void);
void ice_replace_init(void);
void ice_losses_init(void);

/* Converts bytes to another format. `losses` is the keyword of this name, or nil: it says what happens
 * if the format can't express something. */
VALUE ice_convert(VALUE bytes, const icecore_stage *from, const icecore_stage *to, VALUE losses);
/* Raises unless this is a value for the keyword `losses`. */
void ice_check_losses_option(VALUE losses);

/* Parses one or two arguments and keywords. `values` receives the value for each of the `count`
 * keywords in `names`, or Qundef. Raises for other keywords. */
void ice_scan_options(int argc, const VALUE *argv, VALUE *first, VALUE *second, const ID *names, int count,
                      VALUE *values);

#endif
