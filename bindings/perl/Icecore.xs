/* What perl sees: arguments taken from perl's stack, and calls. */
#include "interface.h"

void ice_contexts_boot(pTHX);
void ice_contexts_clone(pTHX);
void ice_build_boot(pTHX);

static void
at_end(pTHX_ void *unused)
{
    PERL_UNUSED_ARG(unused);
    ice_storable_end(aTHX);
    ice_sereal_end(aTHX);
    ice_contexts_free(aTHX);
}

/* The header, if it was asked for, and the body, if that was. */
static SV **
push_parts(pTHX_ SV **sp, int what, SV *header, SV *body)
{
    EXTEND(sp, 2);
    if (what != ICE_BODY)
        *++sp = header ? header : &PL_sv_undef;
    if (body)
        *++sp = sv_2mortal(body);
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
    ice_contexts_boot(aTHX);
    ice_build_boot(aTHX);
    call_atexit(at_end, NULL);

void
CLONE(...)
  CODE:
    PERL_UNUSED_VAR(items);
    ice_storable_clone(aTHX);
    ice_sereal_clone(aTHX);
    ice_contexts_clone(aTHX);
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

MODULE = Icecore    PACKAGE = Icecore::Storable

SV *
freeze(ref, ...)
    SV *ref
  ALIAS:
    freeze = ICE_MEMORY
    nfreeze = ICE_MEMORY_NETORDER
    _image = ICE_FILE
    _nimage = ICE_FILE_NETORDER
  CODE:
    if (items > 1)
        croak("too many arguments");
    RETVAL = ice_freeze(aTHX_ ref, ix);
  OUTPUT:
    RETVAL

SV *
thaw(bytes, ...)
    SV *bytes
  CODE:
    SvGETMAGIC(bytes);
    if (!SvOK(bytes))
        XSRETURN_UNDEF;
    RETVAL = ice_thaw(aTHX_ bytes, ax + 1, items - 1);
  OUTPUT:
    RETVAL

bool
is_storing()
  ALIAS:
    is_storing = ICE_IS_STORING
    is_retrieving = ICE_IS_RETRIEVING
    last_op_in_netorder = ICE_LAST_NETORDER
  CODE:
    RETVAL = ice_storable_state(aTHX_ ix);
  OUTPUT:
    RETVAL

SV *
_more(handle, bytes)
    PerlIO *handle
    SV *bytes
  CODE:
    RETVAL = ice_more(aTHX_ handle, SvRV(bytes));
    if (!RETVAL)
        XSRETURN_UNDEF;
  OUTPUT:
    RETVAL

void
_unread(handle, bytes)
    PerlIO *handle
    SV *bytes
  PREINIT:
    STRLEN len;
    const char *text;
  CODE:
    text = SvPV(bytes, len);
    if (PerlIO_unread(handle, text, len) != (SSize_t)len)
        croak("Icecore: what was read too much could not be given back");

IV
_probe(bytes)
    SV *bytes
  CODE:
    RETVAL = ice_probe(aTHX_ bytes);
  OUTPUT:
    RETVAL

SV *
dclone(ref)
    SV *ref
  PROTOTYPE: $
  CODE:
    SvGETMAGIC(ref);
    if (!SvROK(ref)) {
        if (SvOK(ref))
            croak("Not a reference");
        XSRETURN_UNDEF;
    }
    RETVAL = ice_dclone(aTHX_ ref);
  OUTPUT:
    RETVAL

MODULE = Icecore    PACKAGE = Icecore::Sereal

SV *
encode_sereal(data, options = NULL)
    SV *data
    SV *options
  CODE:
    RETVAL = ice_sereal_encode(aTHX_ data, NULL, options);
  OUTPUT:
    RETVAL

SV *
encode_sereal_with_header_data(data, header, options = NULL)
    SV *data
    SV *header
    SV *options
  CODE:
    RETVAL = ice_sereal_encode(aTHX_ data, header, options);
  OUTPUT:
    RETVAL

SV *
decode_sereal(bytes, options = NULL, target = NULL)
    SV *bytes
    SV *options
    SV *target
  CODE:
    RETVAL = ice_sereal_decode(aTHX_ bytes, options, ICE_BODY, target, NULL);
  OUTPUT:
    RETVAL

void
_decode_with(bytes, options, what, target = NULL)
    SV *bytes
    SV *options
    int what
    SV *target
  PREINIT:
    SV *body, *header = NULL;
  PPCODE:
    PUTBACK;
    body = ice_sereal_decode(aTHX_ bytes, options, what, target, &header);
    SPAGAIN;
    SP = push_parts(aTHX_ SP, what, header, body);

IV
_looks_like(sv)
    SV *sv
  CODE:
    RETVAL = ice_looks_like_sereal(aTHX_ sv);
  OUTPUT:
    RETVAL

MODULE = Icecore    PACKAGE = Icecore::Sereal::Encoder

SV *
new(class, options = NULL)
    SV *class
    SV *options
  CODE:
    RETVAL = ice_encoder_new(aTHX_ class, options);
  OUTPUT:
    RETVAL

SV *
encode(self, data, header = NULL)
    SV *self
    SV *data
    SV *header
  CODE:
    RETVAL = ice_encoder_encode(aTHX_ self, data, header);
  OUTPUT:
    RETVAL

U32
flags(self)
    SV *self
  CODE:
    RETVAL = ice_encoder_flags(aTHX_ self);
  OUTPUT:
    RETVAL

void
DESTROY(self)
    SV *self
  CODE:
    ice_encoder_destroy(aTHX_ self);

MODULE = Icecore    PACKAGE = Icecore::Sereal::Decoder

SV *
new(class, options = NULL)
    SV *class
    SV *options
  CODE:
    RETVAL = ice_decoder_new(aTHX_ class, options);
  OUTPUT:
    RETVAL

SV *
decode(self, bytes, target = NULL)
    SV *self
    SV *bytes
    SV *target
  CODE:
    RETVAL = ice_decoder_decode(aTHX_ self, bytes, 0, ICE_BODY, target, NULL);
  OUTPUT:
    RETVAL

void
_decode(self, bytes, offset, what, target = NULL)
    SV *self
    SV *bytes
    UV offset
    int what
    SV *target
  PREINIT:
    SV *body, *header = NULL;
  PPCODE:
    PUTBACK;
    body = ice_decoder_decode(aTHX_ self, bytes, offset, what, target, &header);
    SPAGAIN;
    SP = push_parts(aTHX_ SP, what, header, body);

bool
_is_incremental(self)
    SV *self
  CODE:
    RETVAL = ice_decoder_is_incremental(aTHX_ self);
  OUTPUT:
    RETVAL

UV
bytes_consumed(self)
    SV *self
  CODE:
    RETVAL = ice_decoder_consumed(aTHX_ self);
  OUTPUT:
    RETVAL

void
DESTROY(self)
    SV *self
  CODE:
    ice_decoder_destroy(aTHX_ self);
