/* The methods that Ruby sees. */
#ifndef ICE_FORMATS_H
#define ICE_FORMATS_H
#include "core/icecore_ruby.h"

void ice_marshal_init(void);
void ice_any_init(void);
void ice_replace_init(void);

/* Parses arguments; `values` receives the options with these `names`, or Qundef. */
void ice_scan_options(int argc, const VALUE *argv, VALUE *first, VALUE *second, const ID *names, int count, VALUE *values);

#endif
