/* Containers that are open. */
#include "core/build.h"

ice_build_frame *
ice_build_push(ice_builder *b)
{
    ice_context *ctx = b->ctx;
    if (UNEXPECTED(ctx->build_depth == ctx->build_room))
        ctx->building = ice_stack_grow(ctx->building, &ctx->build_room, sizeof *ctx->building, 64);
    return &ctx->building[ctx->build_depth++];
}
