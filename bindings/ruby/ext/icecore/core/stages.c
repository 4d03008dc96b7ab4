/* Stages of Marshal, created when the extension is loaded. */
#include "core/documents.h"

static icecore_stage *reading_stage, *writing_stage;

icecore_stage *
ice_marshal_stage_of_depth(uint64_t depth)
{
    icecore_error error;
    icecore_stage *stage = icecore_stage_new("marshal", 7, &error);
    if (!stage)
        ice_raise_error(&error, NULL, 0, false);
    icecore_stage_limit(stage, "depth", 5, depth, NULL);
    return stage;
}

uint64_t
ice_depth_option(VALUE value)
{
    const long depth = NUM2LONG(value);
    if (depth < 0)
        ice_raise(ice_argument_error, "usage", "", "max_depth: must not be below 0 (0 means no limit)");
    return depth ? (uint64_t)depth : UINT64_MAX;
}

const icecore_stage *
ice_marshal_stage(void)
{
    return reading_stage;
}

const icecore_stage *
ice_marshal_stage_for_writing(void)
{
    return writing_stage;
}

void
ice_stages_init(void)
{
    reading_stage = ice_marshal_stage_of_depth(ICE_DEFAULT_MAX_DEPTH);
    writing_stage = ice_marshal_stage_of_depth(UINT64_MAX);
}
