/* Lists, as in perl's pack and unpack. Lists of items are `count` items of perl's stack, from
 * `stack_index` on. */
#ifndef ICECORE_PACK_H
#define ICECORE_PACK_H
#include "core/icecore_perl.h"

/* Values of the parameter `mode`. ICE_UNPACK_TEXT unpacks from characters. */
enum { ICE_PACK, ICE_UNPACK, ICE_UNPACK_TEXT };

void ice_pack_boot(pTHX);
void ice_pack_clone(pTHX);
void ice_pack_end(pTHX);
/* Returns the stage for a template. Returns NULL if the engine does not support the template. */
const icecore_stage *ice_pack_stage(pTHX_ SV *template, int mode, icecore_error *error);
SV *ice_pack_list(pTHX_ SV *template, I32 stack_index, I32 count);
/* Pushes the items of a string to perl's stack, and returns the new top. With `first_only`, pushes
 * only the first one. */
SV **ice_unpack_list(pTHX_ SV **sp, SV *template, SV *bytes, bool first_only);

/* original.c */
/* Returns true if perl warns about a template, whatever the items are. */
bool ip_perl_warns(const char *template, const char *end);
/* Returns true if perl may do what the engine could not do. `error` is that of the engine, or
 * NULL. */
bool ip_can_use_perl(pTHX_ SV *template, const icecore_error *error);
void ip_pack_by_perl(pTHX_ SV *template, I32 stack_index, I32 count, SV *result);
SV **ip_unpack_by_perl(pTHX_ SV **sp, SV *template, SV *bytes, bool first_only);

#endif
