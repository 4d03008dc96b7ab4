/* The functions of Sereal that Icecore.xs calls, and the functions that other files need. */
#ifndef ICECORE_SEREAL_H
#define ICECORE_SEREAL_H
#include "core/icecore_perl.h"

extern const iw_rules ice_sereal_rules;
/* Sets what Icecore::decode has in common with Sereal's decoders: how and when THAW is called,
 * and messages. */
void ice_sereal_apply_decode_settings(ice_read_settings *settings);

/* Values of the parameter `parts`: the parts of a document that are decoded. */
enum { ICE_BODY, ICE_HEADER, ICE_BODY_AND_HEADER };

void ice_sereal_boot(pTHX);
void ice_sereal_clone(pTHX);
void ice_sereal_end(pTHX);

SV *ice_sereal_encode(pTHX_ SV *data, SV *header, SV *options);
/* Decodes a document. The body is assigned to `target` unless that is NULL. */
SV *ice_sereal_decode(pTHX_ SV *bytes, SV *options, int parts, SV *target, SV **header);
/* Returns the protocol of bytes that begin like a Sereal document, or -1. */
IV ice_looks_like_sereal(pTHX_ SV *sv);

SV *ice_encoder_new(pTHX_ SV *class, SV *options);
SV *ice_encoder_encode(pTHX_ SV *self, SV *data, SV *header);
U32 ice_encoder_flags(pTHX_ SV *self);
void ice_encoder_destroy(pTHX_ SV *self);

SV *ice_decoder_new(pTHX_ SV *class, SV *options);
SV *ice_decoder_decode(pTHX_ SV *self, SV *bytes, UV offset, int parts, SV *target, SV **header);
bool ice_decoder_is_incremental(pTHX_ SV *self);
UV ice_decoder_consumed(pTHX_ SV *self);
void ice_decoder_destroy(pTHX_ SV *self);

#endif
