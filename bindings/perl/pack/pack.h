/* Lists, as perl's pack and unpack have them. */
#ifndef ICECORE_PACK_H
#define ICECORE_PACK_H
#include "core/icecore_perl.h"

enum { ICE_PACK, ICE_UNPACK, ICE_UNPACK_TEXT };

void ice_pack_boot(pTHX);
void ice_pack_clone(pTHX);
void ice_pack_end(pTHX);
const icecore_stage *ice_pack_stage(pTHX_ SV *template, int how);
SV *ice_pack_list(pTHX_ SV *template, I32 at, I32 count);
SV **ice_unpack_list(pTHX_ SV **sp, SV *template, SV *bytes);

#endif
