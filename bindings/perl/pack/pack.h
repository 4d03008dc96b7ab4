/* Lists, as in perl's pack and unpack. */
#ifndef ICECORE_PACK_H
#define ICECORE_PACK_H
#include "core/icecore_perl.h"

enum { ICE_PACK, ICE_UNPACK, ICE_UNPACK_TEXT };

void ice_pack_boot(pTHX);
void ice_pack_clone(pTHX);
void ice_pack_end(pTHX);
/* Returns NULL if the template is invalid. */
const icecore_stage *ice_pack_stage(pTHX_ SV *template, int mode, icecore_error *error);
SV *ice_pack_list(pTHX_ SV *template, I32 at, I32 count);
SV **ice_unpack_list(pTHX_ SV **sp, SV *template, SV *bytes, bool first_only);

/* original.c */
/* Whether perl warns about a template itself. */
bool ip_perl_warns(const char *at, const char *end);
/* Whether perl itself may try what the engine could not do. */
bool ip_can_use_perl(pTHX_ SV *template, const icecore_error *error);
void ip_pack_by_perl(pTHX_ SV *template, I32 at, I32 count, SV *result);
SV **ip_unpack_by_perl(pTHX_ SV **sp, SV *template, SV *bytes, bool first_only);

#endif
