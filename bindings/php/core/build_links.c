/* Builds links and aliases, and registers the values that they refer to. */
#include "core/build.h"

void
ice_build_add_target(ice_builder *b, uint32_t node, zval *place)
{
    ice_context *ctx = b->ctx;
    ice_target *target;
    if (ctx->target_count == ctx->target_capacity)
        ctx->targets = ice_stack_grow(ctx->targets, &ctx->target_capacity, sizeof *ctx->targets, 16);
    target = &ctx->targets[ctx->target_count++];
    target->node = node;
    target->place = place;
    target->type = NULL;
}

/* Returns the target with this node, or NULL. The targets are sorted by node, because nodes are
 * visited in order. So a binary search finds it. */
static ice_target *
find_target(ice_context *ctx, uint32_t node)
{
    uint32_t low = 0, high = ctx->target_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (ctx->targets[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ctx->target_count && ctx->targets[low].node == node ? &ctx->targets[low] : NULL;
}

void
ice_build_set_target_type(ice_builder *b, uint32_t node, zend_property_info *type)
{
    ice_target *target = find_target(b->ctx, node);
    if (target)
        target->type = type;
}

/* Makes `dest` and the target the same PHP reference. Returns false if `dest` is the target
 * itself. A reference must know each typed property that it is in. So if the target is such a
 * property, its type is added when its value becomes a reference. */
static bool
build_alias(ice_target *target, zval *dest)
{
    zval *place = target->place;
    if (place == dest || (Z_ISREF_P(place) && Z_REFVAL_P(place) == dest))
        return false;
    if (!Z_ISREF_P(place)) {
        ZVAL_NEW_REF(place, place);
        if (target->type)
            ZEND_REF_ADD_TYPE_SOURCE(Z_REF_P(place), target->type);
    }
    ZVAL_COPY(dest, place);
    return true;
}

/* Returns the result of ice_build_link. PHP reports the offset after a link that it refuses. */
static bool
link_result(ice_builder *b, bool is_built)
{
    b->ctx->failed_after_node = !is_built;
    return is_built;
}

bool
ice_build_link(ice_builder *b, const icecore_node *node, zval *dest)
{
    ice_target *target = find_target(b->ctx, (uint32_t)node->payload);
    zval *place;
    if (!target)
        return link_result(b, false);
    if (node->kind == ICECORE_ALIAS)
        return link_result(b, build_alias(target, dest));
    place = target->place;
    if (place == dest)
        return link_result(b, false);
    ZVAL_DEREF(place);
    if (node->kind == ICECORE_LINK && Z_TYPE_P(place) != IS_OBJECT)
        return link_result(b, false);
    ZVAL_COPY(dest, place);
    return link_result(b, true);
}
