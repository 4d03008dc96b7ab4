MODULE = Icecore    PACKAGE = Icecore::Sereal

# Functions whose names begin with `_` are for lib/Icecore/Sereal.pm. `parts` is ICE_BODY, ICE_HEADER or
# ICE_BODY_AND_HEADER.

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
_decode_with(bytes, options, parts, target = NULL)
    SV *bytes
    SV *options
    int parts
    SV *target
  PREINIT:
    SV *body, *header = NULL;
  PPCODE:
    PUTBACK;
    body = ice_sereal_decode(aTHX_ bytes, options, parts, target, &header);
    SPAGAIN;
    SP = push_parts(aTHX_ SP, parts, header, body);

SV *
sereal_encode_with_object(encoder, data, header = NULL)
    SV *encoder
    SV *data
    SV *header
  CODE:
    RETVAL = ice_encoder_encode(aTHX_ encoder, data, header);
  OUTPUT:
    RETVAL

SV *
sereal_decode_with_object(decoder, bytes, target = NULL)
    SV *decoder
    SV *bytes
    SV *target
  CODE:
    RETVAL = ice_decoder_decode(aTHX_ decoder, bytes, 0, ICE_BODY, target, NULL);
  OUTPUT:
    RETVAL

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
_decode(self, bytes, offset, parts, target = NULL)
    SV *self
    SV *bytes
    UV offset
    int parts
    SV *target
  PREINIT:
    SV *body, *header = NULL;
  PPCODE:
    PUTBACK;
    body = ice_decoder_decode(aTHX_ self, bytes, offset, parts, target, &header);
    SPAGAIN;
    SP = push_parts(aTHX_ SP, parts, header, body);

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
