/* The facts about a class that is written. */
#include "core/walk.h"

static ice_written *
add(ice_context *ctx, zend_class_entry *ce, uint32_t id)
{
    ice_written *written;
    if (ctx->written_count == ctx->written_room) {
        memset(ctx->near_written, 0, sizeof ctx->near_written);
        ctx->written = ice_stack_grow(ctx->written, &ctx->written_room, sizeof *ctx->written, 16);
    }
    ice_map_add(&ctx->written_places, ce, ctx->written_count);
    written = &ctx->written[ctx->written_count++];
    written->ce = ce;
    written->id = id;
    written->count = 0;
    written->slots = NULL;
    return written;
}

/* Lists the declared properties, in the order of their slots. */
static void
note_slots(ice_walker *w, ice_written *written)
{
    const zend_class_entry *ce = written->ce;
    const uint32_t slots = (uint32_t)ce->default_properties_count;
    uint32_t at;
    if (slots == 0)
        return;
    written->slots = ice_host_resize(NULL, slots * sizeof *written->slots);
    for (at = 0; at < slots; at++) {
        const zend_property_info *info = ce->properties_info_table[at];
        ice_written_slot *slot = &written->slots[written->count];
        if (!info)
            continue;
        slot->offset = info->offset;
        slot->name = info->name;
        slot->key = slots <= ICECORE_MOST_IDS ? ice_new_key_id(w->ctx, info->name) : 0;
        written->count++;
    }
}

ice_written *
ice_walk_class(ice_walker *w, zend_class_entry *ce)
{
    const ice_slot *place = ice_map_find(&w->ctx->written_places, ce);
    ice_written *written;
    uint32_t id;
    if (EXPECTED(place != NULL))
        return &w->ctx->written[place->value];
    id = icecore_class(w->engine, ICECORE_BYTES, (const uint8_t *)ZSTR_VAL(ce->name), ZSTR_LEN(ce->name));
    if (!id)
        ice_host_fail("too many classes");
    written = add(w->ctx, ce, id);
    note_slots(w, written);
    return written;
}

/* In a request, classes are only added, at the end of the table. */
bool
ice_walk_left_to_php(void)
{
    const HashTable *classes = EG(class_table);
    for (; ICE_G(classes_seen) < classes->nNumUsed; ICE_G(classes_seen)++) {
        const zval *value = &classes->arData[ICE_G(classes_seen)].val;
        const zend_class_entry *ce;
        if (Z_TYPE_P(value) == IS_UNDEF)
            continue;
        ce = Z_PTR_P(value);
        ICE_G(has_serializable) |= ce->type == ZEND_USER_CLASS && ce->serialize && !ce->__serialize &&
                                   !(ce->ce_flags & ZEND_ACC_INTERFACE);
    }
    return ICE_G(has_serializable);
}
