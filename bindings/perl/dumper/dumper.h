/* Data::Dumper: what Icecore.xs calls, and what its own files share. */
#ifndef ICECORE_DUMPER_H
#define ICECORE_DUMPER_H
#include "core/icecore_perl.h"

extern const iw_rules ice_dumper_rules;

void ice_dumper_boot(pTHX);
void ice_dumper_clone(pTHX);
void ice_dumper_end(pTHX);

/* One text for all values, a mortal; or, with `texts`, which gets them, one for each. */
SV *ice_dumper_dump(pTHX_ I32 at, I32 count, AV *texts);
SV *ice_dumper_object_dump(pTHX_ SV *self, AV *texts);
SV *ice_dumper_new(pTHX_ SV *class, SV *values, SV *names);
void ice_dumper_destroy(pTHX_ SV *self);
AV *ice_dumper_list(pTHX_ SV *self, bool is_names, SV *list);
SV *ice_dumper_setting(pTHX_ SV *self, int which, SV *value);
/* The value of a text, a mortal; of several, the list of them, and NULL. */
SV *ice_undump(pTHX_ SV *text, I32 at, I32 count, AV **values);

#endif
