/* Encoders and decoders, and their options. */
#ifndef ICECORE_SEREAL_SETTINGS_H
#define ICECORE_SEREAL_SETTINGS_H
#include "sereal/sereal.h"

typedef struct {
    icecore_stage *stage;
    ice_write_settings settings;
} ice_sereal_encoder;

typedef struct {
    icecore_stage *stage;
    ice_read_settings settings;
    SV *classes;      /* the copy of the option `classes` that `settings` uses; or NULL */
    bool incremental; /* the option of this name, as is the next one */
    bool refuse_objects;
    STRLEN consumed; /* length of the last document */
} ice_sereal_decoder;

/* Returns the hash that the argument `options` of a call refers to; NULL if it is undefined. */
HV *isr_options_hash(pTHX_ SV *options);
/* Initialize an encoder or a decoder, all of whose bytes are zero. `options` may be NULL. */
void isr_make_encoder(pTHX_ ice_sereal_encoder *enc, HV *options);
void isr_make_decoder(pTHX_ ice_sereal_decoder *dec, HV *options);
/* Free what an encoder or a decoder contains. Their type is that of perl's destructors. */
void isr_clear_encoder(pTHX_ void *data);
void isr_clear_decoder(pTHX_ void *data);

#endif
