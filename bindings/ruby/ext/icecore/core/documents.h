/* One document, read or written by a stage. */
#ifndef ICE_DOCUMENTS_H
#define ICE_DOCUMENTS_H
#include "core/icecore_ruby.h"

/* Arguments and state of a call that reads. Fields that the caller does not set must be zero. */
typedef struct ice_reading ice_reading;
struct ice_reading {
    const icecore_stage *stage;
    ice_read_settings settings;
    VALUE classes, rename; /* the options of these names */
    bool may_trail;        /* bytes after the document are allowed */
    bool is_stream;        /* the bytes come from an IO */
    bool only_refused;     /* builds nothing: returns the names of disallowed classes */
    /* NULL unless the data is of another language. Checks the classes that the data names,
     * converts the data to Marshal, and sets `stage` and the source to the result. Mostly returns
     * Qundef. If `only_refused` is set and classes are refused, returns a Hash of their names; this
     * Hash is the result of the call. */
    VALUE (*convert_to_marshal)(ice_reading *reading);
    ice_context *ctx;
    uint32_t call;
};

/* Returns the value of the source; if `only_refused`, a Hash from refused names to paths. */
VALUE ice_read(ice_reading *reading);
/* Writes a value, and returns the bytes. `stage` is NULL for Marshal. */
VALUE ice_write(const icecore_stage *stage, VALUE value, long limit);
/* Reads exactly the bytes of one document from an IO. */
VALUE ice_stream_bytes(VALUE io);
/* Return stages of Marshal. The caller must free the result of ice_marshal_stage_of_depth. */
const icecore_stage *ice_marshal_stage(void);
const icecore_stage *ice_marshal_stage_for_writing(void);
icecore_stage *ice_marshal_stage_of_depth(uint64_t depth);
/* Parses the keyword `max_depth`: 0 means no limit. */
uint64_t ice_depth_option(VALUE value);
void ice_stages_init(void);

#endif
