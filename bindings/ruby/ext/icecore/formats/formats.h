/* The methods that Ruby sees. */
#ifndef ICE_FORMATS_H
#define ICE_FORMATS_H
#include "core/icecore_ruby.h"

void ice_marshal_init(void);
void ice_any_init(void);
void ice_replace_init(void);

/* Parses one or two arguments and keywords. `values` receives the value for each of the `count`
 * keywords in `names`, or Qundef. Raises for other keywords. */
void ice_scan_options(int argc, const VALUE *argv, VALUE *first, VALUE *second, const ID *names, int count,
                      VALUE *values);

#endif
