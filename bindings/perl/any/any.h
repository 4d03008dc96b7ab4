/* Documents of any format, and operators that replace calls. Arguments of a call are `count` items
 * of perl's stack, from `stack_index` on. */
#ifndef ICECORE_ANY_H
#define ICECORE_ANY_H
#include "core/icecore_perl.h"

extern const iw_rules ice_any_rules;

/* Reads and writes a document. The arguments are options. */
SV *ice_decode(pTHX_ SV *bytes, I32 stack_index, I32 count);
SV *ice_encode(pTHX_ SV *data, SV *format, I32 stack_index, I32 count);
/* Returns the classes that a document names: a mortal list of hashes. */
AV *ice_classes(pTHX_ SV *bytes, SV *format);

/* Replaces text in frozen data. The arguments are those of Icecore::replace. */
SV *ice_replace(pTHX_ I32 stack_index, I32 count);
void ice_replace_boot(pTHX);
void ice_replace_clone(pTHX);
void ice_replace_end(pTHX);

/* Registers the operators: operators.c. */
void ice_operators_boot(pTHX);

#endif
