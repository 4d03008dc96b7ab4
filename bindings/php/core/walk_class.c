/* Collects what is needed about each class whose objects are written. */
#include "core/walk.h"

/* Adds a class. Its slots are still missing. */
static ice_written_class *
add_class(ice_context *ctx, zend_class_entry *ce, uint32_t id)
{
    ice_written_class *class_info;
    if (ctx->written_class_count == ctx->written_class_capacity) {
        /* The array may move, and the cache has pointers into it. */
        memset(ctx->written_class_cache, 0, sizeof ctx->written_class_cache);
        ctx->written_classes =
            ice_stack_grow(ctx->written_classes, &ctx->written_class_capacity, sizeof *ctx->written_classes, 16);
    }
    ice_map_add(&ctx->written_class_indices, ce, ctx->written_class_count);
    class_info = &ctx->written_classes[ctx->written_class_count++];
    class_info->ce = ce;
    class_info->id = id;
    class_info->slot_count = 0;
    class_info->slots = NULL;
    return class_info;
}

/* Lists the declared properties, in the order of their slots. */
static void
list_slots(ice_walker *w, ice_written_class *class_info)
{
    const zend_class_entry *ce = class_info->ce;
    const uint32_t count = (uint32_t)ce->default_properties_count;
    uint32_t slot_index;
    if (count == 0)
        return;
    class_info->slots = ice_host_resize(NULL, count * sizeof *class_info->slots);
    for (slot_index = 0; slot_index < count; slot_index++) {
        const zend_property_info *info = ce->properties_info_table[slot_index];
        ice_written_property *slot = &class_info->slots[class_info->slot_count];
        if (!info)
            continue;
        slot->offset = info->offset;
        slot->name = info->name;
        slot->key_id = count <= ICECORE_MAX_ENTRIES_WITH_IDS ? ice_key_register(w->ctx, info->name) : 0;
        class_info->slot_count++;
    }
}

ice_written_class *
ice_walk_class_info(ice_walker *w, zend_class_entry *ce)
{
    const ice_slot *known = ice_map_find(&w->ctx->written_class_indices, ce);
    ice_written_class *class_info;
    uint32_t id;
    if (EXPECTED(known != NULL))
        return &w->ctx->written_classes[known->value];
    id = icecore_class(w->engine, ICECORE_BYTES, (const uint8_t *)ZSTR_VAL(ce->name), ZSTR_LEN(ce->name));
    if (!id)
        ice_host_fail("too many classes");
    class_info = add_class(w->ctx, ce, id);
    list_slots(w, class_info);
    return class_info;
}

/* During a request, PHP only appends classes to its table. So the search continues after the last
 * class that was checked, and each class is checked once. */
bool
ice_walk_has_serializable_class(void)
{
    const HashTable *classes = EG(class_table);
    for (; ICE_G(checked_class_count) < classes->nNumUsed; ICE_G(checked_class_count)++) {
        const zval *value = &classes->arData[ICE_G(checked_class_count)].val;
        const zend_class_entry *ce;
        if (Z_TYPE_P(value) == IS_UNDEF)
            continue;
        ce = Z_PTR_P(value);
        ICE_G(has_serializable_class) |= ce->type == ZEND_USER_CLASS && ce->serialize && !ce->__serialize &&
                                   !(ce->ce_flags & ZEND_ACC_INTERFACE);
    }
    return ICE_G(has_serializable_class);
}
