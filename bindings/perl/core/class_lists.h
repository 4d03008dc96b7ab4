/* Class lists of Sereal's options. A list is a hash whose keys are names of classes, or code that
 * is called for each object. */
#ifndef ICECORE_CLASS_LISTS_H
#define ICECORE_CLASS_LISTS_H
#include "core/icecore_perl.h"

/* Creates a list from the value of an option: a reference to an array of names, to a hash
 * (its keys with true values are the names), or to code. Dies for anything else. The names
 * are copied, as in Sereal. `*list` is set before anything can die; the caller owns it. */
void ice_class_list_new(pTHX_ SV **list, const char *option, SV *value);

/* Returns true if a list is code. `list` may be NULL. */
PERL_STATIC_INLINE bool
ice_class_list_is_code(SV *list)
{
    return list && SvTYPE(list) == SVt_PVCV;
}

/* Returns true if a list contains a name. The list must not be code. */
bool ice_class_list_contains(pTHX_ SV *list, const char *name, STRLEN len, bool is_utf8);
/* Calls the code of a list with the name of a class, and with the object unless it is NULL.
 * Returns true if the result is true. */
bool ice_class_list_call(pTHX_ SV *list, SV *name, SV *object);

#endif
