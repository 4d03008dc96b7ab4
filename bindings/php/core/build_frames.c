/* Containers that are open. */
#include "core/build.h"

ice_build_frame *
ice_build_push(ice_builder *b)
{
    ice_context *ctx = b->ctx;
    if (UNEXPECTED(ctx->build_depth == ctx->build_room)) {
        const uint32_t room = ctx->build_room ? ctx->build_room * 2 : 64;
        ctx->building = ice_host_resize(ctx->building, room * sizeof *ctx->building);
        ctx->build_room = room;
    }
    return &ctx->building[ctx->build_depth++];
}
