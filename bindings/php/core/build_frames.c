/* Pushes the frames of open containers. */
#include "core/build.h"

ice_build_frame *
ice_build_push_frame(ice_builder *b, uint8_t kind, uint32_t node, uint32_t first, zval *dest,
                     zend_property_info *type)
{
    ice_context *ctx = b->ctx;
    ice_build_frame *frame;
    if (UNEXPECTED(ctx->build_depth == ctx->build_capacity))
        ctx->build_frames = ice_stack_grow(ctx->build_frames, &ctx->build_capacity, sizeof *ctx->build_frames, 64);
    frame = &ctx->build_frames[ctx->build_depth++];
    *frame = (ice_build_frame){
        .kind = kind, .node = node, .next_node = first, .end = ice_next(&ctx->view, node), .dest = dest, .type = type
    };
    return frame;
}
