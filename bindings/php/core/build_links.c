/* Link targets, links and aliases. Nodes are visited in order, so the table of targets
 * is sorted. */
#include "core/build.h"

void
ice_build_target(ice_builder *b, uint32_t node, zval *place)
{
    ice_context *ctx = b->ctx;
    ice_target *target;
    if (ctx->target_count == ctx->target_room)
        ctx->targets = ice_stack_grow(ctx->targets, &ctx->target_room, sizeof *ctx->targets, 16);
    target = &ctx->targets[ctx->target_count++];
    target->node = node;
    target->place = place;
    target->type = NULL;
}

static ice_target *
find(ice_context *ctx, uint32_t node)
{
    uint32_t from = 0, to = ctx->target_count;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (ctx->targets[middle].node < node)
            from = middle + 1;
        else
            to = middle;
    }
    return from < ctx->target_count && ctx->targets[from].node == node ? &ctx->targets[from] : NULL;
}

void
ice_build_typed_target(ice_builder *b, uint32_t node, zend_property_info *type)
{
    ice_target *target = find(b->ctx, node);
    if (target)
        target->type = type;
}

static bool
alias(ice_target *target, zval *to)
{
    zval *place = target->place;
    if (place == to || (Z_ISREF_P(place) && Z_REFVAL_P(place) == to))
        return false;
    if (!Z_ISREF_P(place)) {
        ZVAL_NEW_REF(place, place);
        if (target->type)
            ZEND_REF_ADD_TYPE_SOURCE(Z_REF_P(place), target->type);
    }
    ZVAL_COPY(to, place);
    return true;
}

static bool
ok(ice_builder *b, bool is_ok)
{
    b->ctx->failed_behind = !is_ok;
    return is_ok;
}

bool
ice_build_link(ice_builder *b, const icecore_node *node, zval *to)
{
    ice_target *target = find(b->ctx, (uint32_t)node->payload);
    zval *place;
    b->ctx->failed_behind = true;
    if (!target)
        return false;
    if (node->kind == ICECORE_ALIAS)
        return ok(b, alias(target, to));
    place = target->place;
    if (place == to)
        return false;
    ZVAL_DEREF(place);
    if (node->kind == ICECORE_LINK && Z_TYPE_P(place) != IS_OBJECT)
        return false;
    ZVAL_COPY(to, place);
    return ok(b, true);
}
