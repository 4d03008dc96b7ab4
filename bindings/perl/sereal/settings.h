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
    SV *classes;
    bool incremental;
    bool refuse_objects;
    STRLEN consumed;
} ice_sereal_decoder;

/* Returns the hash of options, or NULL. */
HV *isr_options_hash(pTHX_ SV *options);
/* Initialize an encoder or decoder that is all zero; without options, the default one. */
void isr_make_encoder(pTHX_ ice_sereal_encoder *enc, HV *options);
void isr_make_decoder(pTHX_ ice_sereal_decoder *dec, HV *options);
/* Free the contents; used as destructors. */
void isr_clear_encoder(pTHX_ void *data);
void isr_clear_decoder(pTHX_ void *data);

#endif
