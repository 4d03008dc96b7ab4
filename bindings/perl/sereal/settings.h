/* Encoders and decoders, and what their options say. */
#ifndef ICECORE_SEREAL_SETTINGS_H
#define ICECORE_SEREAL_SETTINGS_H
#include "sereal/sereal.h"

typedef struct {
    icecore_stage *stage;
    ice_write_settings set;
} encoder;

typedef struct {
    icecore_stage *stage;
    ice_read_settings set;
    SV *classes;
    bool incremental;
    bool refuse_objects;
    STRLEN consumed;
} decoder;

/* The hash of options, or NULL. */
HV *isr_options_of(pTHX_ SV *options);
/* Makes one of what is all zero; without options, the usual one. */
void isr_make_encoder(pTHX_ encoder *enc, HV *options);
void isr_make_decoder(pTHX_ decoder *dec, HV *options);
/* What it holds goes, as a destructor. */
void isr_clear_encoder(pTHX_ void *data);
void isr_clear_decoder(pTHX_ void *data);

#endif
