/* Open containers. */
#include "core/build.h"

ice_build_frame *
ice_build_push(ice_builder *b, uint8_t kind, uint32_t node, uint32_t first, zval *to, zend_property_info *type)
{
    ice_context *ctx = b->ctx;
    ice_build_frame *frame;
    if (UNEXPECTED(ctx->build_depth == ctx->build_room))
        ctx->building = ice_stack_grow(ctx->building, &ctx->build_room, sizeof *ctx->building, 64);
    frame = &ctx->building[ctx->build_depth++];
    *frame = (ice_build_frame){
        .kind = kind, .node = node, .at = first, .end = ice_next(&ctx->view, node), .place = to, .type = type
    };
    return frame;
}
