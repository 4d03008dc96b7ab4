/* The allow lists of Sereal's options: names of classes, or code that is asked for each object. */
#ifndef ICECORE_CLASS_LISTS_H
#define ICECORE_CLASS_LISTS_H
#include "core/icecore_perl.h"

/* Makes a list from the value of an option: an array of names, a hash whose true values
 * allow their keys, or code. Dies for anything else. Names are copied, as the original
 * does. The caller owns the list. */
void ice_class_list_make(pTHX_ SV **list, const char *option, SV *value);

PERL_STATIC_INLINE bool
ice_class_list_is_code(SV *list)
{
    return list && SvTYPE(list) == SVt_PVCV;
}

/* Whether the list, which is not code, contains a name. */
bool ice_class_list_has(pTHX_ SV *list, const char *name, STRLEN len, bool is_utf8);
/* Calls the code with a class, and with an object if there is one; returns its answer. */
bool ice_class_list_ask(pTHX_ SV *list, SV *name, SV *object);

#endif
