/* One document, read or written by a stage. */
#ifndef ICE_DOCUMENTS_H
#define ICE_DOCUMENTS_H
#include "core/icecore_ruby.h"

/* Arguments and state of a read call. Everything that the caller does not set must be
 * zero. */
typedef struct ice_reading ice_reading;
struct ice_reading {
    const icecore_stage *stage;
    ice_read_settings settings;
    VALUE classes, rename; /* as the caller gave them */
    bool may_trail;        /* bytes after the document are allowed */
    bool is_stream;        /* the bytes come from an IO */
    bool only_refused;     /* builds nothing: returns the names of disallowed classes */
    /* For data of another language: checks the classes that it names, converts it, sets
     * `stage` and the source to the result, and returns Qundef, or a Hash of names; or
     * NULL. */
    VALUE (*prepare)(ice_reading *reading);
    ice_context *ctx;
    uint32_t call;
};

/* Returns the value of the source, or a Hash of names. */
VALUE ice_read(ice_reading *reading);
/* Returns the bytes of a value. */
VALUE ice_write(const icecore_stage *stage, VALUE value, long limit);
/* Reads exactly the bytes of one document from an IO. */
VALUE ice_stream_bytes(VALUE io);
/* Stages of Marshal; the caller owns the one with another depth, and frees it. */
const icecore_stage *ice_marshal_stage(void);
const icecore_stage *ice_marshal_stage_for_writing(void);
icecore_stage *ice_marshal_stage_of_depth(uint64_t depth);
/* Parses the keyword `max_depth`: 0 means no limit. */
uint64_t ice_depth_option(VALUE value);
void ice_stages_init(void);

#endif
