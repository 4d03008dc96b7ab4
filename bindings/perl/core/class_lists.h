/* The allow lists of Sereal's options: names of classes, or code that is asked for each object. */
#ifndef ICECORE_CLASS_LISTS_H
#define ICECORE_CLASS_LISTS_H
#include "core/icecore_perl.h"

/* Makes a list from what an option says: an array of names, a hash whose true values allow
 * their keys, or code. Dies of anything else. Names are copied, as the original copies them.
 * The caller owns what is put into `list`. */
void ice_class_list_make(pTHX_ SV **list, const char *option, SV *value);

PERL_STATIC_INLINE bool
ice_class_list_is_code(SV *list)
{
    return list && SvTYPE(list) == SVt_PVCV;
}

/* Whether the list has a name. It is not code. */
bool ice_class_list_has(pTHX_ SV *list, const char *name, STRLEN len, bool is_utf8);
/* What the code says of a class, and of an object where there is one. */
bool ice_class_list_ask(pTHX_ SV *list, SV *name, SV *object);

#endif
