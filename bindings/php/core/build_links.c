/* Builds links and aliases, and registers the values that they refer to. */
#include "core/build.h"

/* Remembers the value at the target's place, for igbinary. A value that was written as a reference
 * becomes one at once, also if it is a container that is still open. */
static void
set_value(ice_target *target, bool is_reference)
{
    zval *place = target->place;
    if (is_reference)
        ZVAL_NEW_REF(place, place);
    else if (Z_TYPE_P(place) == IS_ARRAY && Z_REFCOUNTED_P(place)) {
        /* A link may make the array part of itself, and more entries follow. */
        HT_ALLOW_COW_VIOLATION(Z_ARRVAL_P(place));
    }
    ZVAL_COPY_VALUE(&target->value, place);
    target->place = NULL;
}

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
    if (b->settings->is_igbinary)
        set_value(target, b->nodes[node].flags & ICECORE_FLAG_REF);
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

/* Builds a link of igbinary, by its rule. A link by reference to any other value makes
 * a new reference, which later links share. The place where the value was found first does not
 * change. Any other link copies the value of a reference. */
static void
build_igbinary_link(ice_target *target, bool is_by_reference, zval *dest)
{
    if (!is_by_reference) {
        ZVAL_COPY_DEREF(dest, &target->value);
        return;
    }
    ZVAL_COPY(dest, &target->value);
    if (Z_ISREF_P(dest))
        return;
    ZVAL_NEW_REF(dest, dest);
    ZVAL_COPY_VALUE(&target->value, dest);
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
    if (b->settings->is_igbinary) {
        build_igbinary_link(target, node->kind == ICECORE_ALIAS, dest);
        return link_result(b, true);
    }
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
