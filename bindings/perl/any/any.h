/* Documents of any format, and operators that replace calls. */
#ifndef ICECORE_ANY_H
#define ICECORE_ANY_H
#include "core/icecore_perl.h"

extern const iw_rules ice_any_rules;

SV *ice_decode(pTHX_ SV *bytes, I32 stack_index, I32 count);
SV *ice_encode(pTHX_ SV *data, SV *format, I32 stack_index, I32 count);
/* Returns the classes that a document names: a mortal list of hashes. */
AV *ice_classes(pTHX_ SV *bytes, SV *format);

/* Replaces text in frozen data. */
SV *ice_replace(pTHX_ I32 stack_index, I32 count);
void ice_replace_boot(pTHX);
void ice_replace_clone(pTHX);
void ice_replace_end(pTHX);

void ice_operators_boot(pTHX);

#endif
