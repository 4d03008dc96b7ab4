/* The functions that perl sees. They take arguments from perl's stack, and call functions of the other
 * files. Those of a format are in the .xsh file of its folder. */
#include "any/any.h"
#include "core/payloads.h"
#include "dumper/dumper.h"
#include "json/json.h"
#include "pack/pack.h"
#include "sereal/sereal.h"
#include "storable/storable.h"

void ice_hooks_boot(pTHX);
void ice_hooks_clone(pTHX);
void ice_contexts_boot(pTHX);
void ice_contexts_clone(pTHX);
void ice_build_boot(pTHX);

/* Frees the memory that this module has allocated for an interpreter, when the interpreter ends. */
static void
at_end(pTHX_ void *unused)
{
    PERL_UNUSED_ARG(unused);
    ice_storable_end(aTHX);
    ice_sereal_end(aTHX);
    ice_json_end(aTHX);
    ice_dumper_end(aTHX);
    ice_pack_end(aTHX);
    ice_replace_end(aTHX);
    ice_payloads_end(aTHX);
    ice_contexts_free(aTHX);
}

/* Pushes the header and the body of a Sereal document on perl's stack, if they were requested, and returns
 * the new top of the stack. A header that is missing is undef. */
static SV **
push_parts(pTHX_ SV **sp, int parts, SV *header, SV *body)
{
    EXTEND(sp, 2);
    if (parts != ICE_BODY)
        *++sp = header ? header : &PL_sv_undef;
    if (body)
        *++sp = sv_2mortal(body);
    return sp;
}

/* Pushes the items of a list on perl's stack, and returns its new top. */
static SV **
push_list(pTHX_ SV **sp, AV *list)
{
    SSize_t i;
    EXTEND(sp, AvFILL(list) + 1);
    for (i = 0; i <= AvFILL(list); i++) {
        SV **item = av_fetch(list, i, FALSE);
        *++sp = item ? sv_2mortal(SvREFCNT_inc_simple_NN(*item)) : &PL_sv_undef;
    }
    return sp;
}

MODULE = Icecore    PACKAGE = Icecore

PROTOTYPES: DISABLE

BOOT:
    if (icecore_tape_version() != ICECORE_TAPE_VERSION)
        croak("Icecore: the engine's tape has version %u, and the module is for %u", (unsigned)icecore_tape_version(),
              (unsigned)ICECORE_TAPE_VERSION);
    ice_storable_boot(aTHX);
    ice_sereal_boot(aTHX);
    ice_json_boot(aTHX);
    ice_dumper_boot(aTHX);
    ice_pack_boot(aTHX);
    ice_operators_boot(aTHX);
    ice_replace_boot(aTHX);
    ice_hooks_boot(aTHX);
    ice_contexts_boot(aTHX);
    ice_policy_boot(aTHX);
    ice_payloads_boot(aTHX);
    ice_build_boot(aTHX);
    call_atexit(at_end, NULL);

void
CLONE(...)
  CODE:
    PERL_UNUSED_VAR(items);
    ice_storable_clone(aTHX);
    ice_sereal_clone(aTHX);
    ice_json_clone(aTHX);
    ice_dumper_clone(aTHX);
    ice_pack_clone(aTHX);
    ice_replace_clone(aTHX);
    ice_hooks_clone(aTHX);
    ice_contexts_clone(aTHX);
    ice_policy_clone(aTHX);
    ice_payloads_clone(aTHX);
    call_atexit(at_end, NULL);

const char *
engine_version()
  CODE:
    RETVAL = icecore_version();
  OUTPUT:
    RETVAL

SV *
decode(bytes, ...)
    SV *bytes
  CODE:
    RETVAL = ice_decode(aTHX_ bytes, ax + 1, items - 1);
  OUTPUT:
    RETVAL

SV *
encode(data, format, ...)
    SV *data
    SV *format
  CODE:
    RETVAL = ice_encode(aTHX_ data, format, ax + 2, items - 2);
  OUTPUT:
    RETVAL

void
classes(bytes, ...)
    SV *bytes
  PREINIT:
    AV *list;
    SSize_t i;
    SV *format = NULL;
  PPCODE:
    if (items == 3 && strEQ(SvPV_nolen(ST(1)), "format"))
        format = ST(2);
    else if (items != 1)
        croak("Icecore: classes takes the bytes, and format => FORMAT");
    list = ice_classes(aTHX_ bytes, format);
    EXTEND(SP, AvFILLp(list) + 1);
    for (i = 0; i <= AvFILLp(list); i++)
        PUSHs(sv_2mortal(SvREFCNT_inc(AvARRAY(list)[i])));

SV *
replace(...)
  CODE:
    RETVAL = ice_replace(aTHX_ ax, items);
  OUTPUT:
    RETVAL

SV *
pack_list(template, ...)
    SV *template
  CODE:
    RETVAL = ice_pack_list(aTHX_ template, ax + 1, items - 1);
  OUTPUT:
    RETVAL

void
unpack_list(template, bytes)
    SV *template
    SV *bytes
  PPCODE:
    SP = ice_unpack_list(aTHX_ SP, template, bytes, GIMME_V == G_SCALAR);

INCLUDE: storable/storable.xsh

INCLUDE: sereal/sereal.xsh

INCLUDE: json/json.xsh

INCLUDE: json/cpanel.xsh

INCLUDE: dumper/dumper.xsh
