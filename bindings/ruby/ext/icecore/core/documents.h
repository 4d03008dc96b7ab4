/* One document, read or written by a stage. */
#ifndef ICE_DOCUMENTS_H
#define ICE_DOCUMENTS_H
#include "core/icecore_ruby.h"

/* What a call reads. `settings` must be zero but for what its caller set. */
typedef struct ice_reading ice_reading;
struct ice_reading {
    const icecore_stage *stage;
    ice_read_settings settings;
    VALUE classes, rename; /* as the caller gave them */
    bool may_trail;        /* bytes behind the document are no error */
    bool is_stream;        /* the bytes come from an IO */
    bool only_refused;     /* nothing is built: the names of the classes that are not allowed */
    /* Data of another language: asks for the classes that it names, sets `stage` and the
     * source to what it becomes, and returns Qundef, or a Hash of names; or NULL. */
    VALUE (*prepare)(ice_reading *reading);
    ice_context *ctx;
    uint32_t call;
};

/* The value that the source says, or a Hash of names. */
VALUE ice_read(ice_reading *reading);
/* The bytes of a value. */
VALUE ice_write(const icecore_stage *stage, VALUE value, long limit);
/* The bytes of one document from an IO, and not one more. */
VALUE ice_stream_bytes(VALUE io);
/* Stages of Marshal; with another depth it is the caller's, to be freed. */
const icecore_stage *ice_marshal_stage(void);
const icecore_stage *ice_marshal_stage_for_writing(void);
icecore_stage *ice_marshal_stage_of_depth(uint64_t depth);
/* The keyword `max_depth`: 0 is no limit. */
uint64_t ice_depth_option(VALUE value);
void ice_stages_init(void);

#endif
